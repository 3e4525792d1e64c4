// SPDX-License-Identifier: Apache-2.0
// The delay line's two raster positions; the rules are those of mase_window_parallel.sv.
#include "hardware/design/timing/handshake/window_parallel.hpp"

#include "base/error.hpp"

namespace mase::design {

RasterShape::RasterShape(const ModuleParameters& p)
    : H(p.integer("H")),
      W(p.integer("W")),
      CF(p.integer("CF")),
      KH(p.integer("KH")),
      KW(p.integer("KW")),
      SH(p.integer("SH")),
      SW(p.integer("SW")),
      DY(p.integer("DY")),
      DX(p.integer("DX")),
      PH(p.integer("PH")),
      PW(p.integer("PW")),
      OH(p.integer("OH")),
      OW(p.integer("OW")) {}

WindowParallelHandshake::WindowParallelHandshake(const RasterShape& shape, Stages kept)
    : shape_(shape),
      height_(shape.height()),
      width_(shape.width() * shape.CF),
      last_x_(shape.last_x()),
      last_y_(shape.last_y()),
      slack_(shape.lag() * shape.CF),
      pipe_(1, kept) {
  MASE_CHECK(shape.PH < shape.reach_y() && shape.PW < shape.reach_x(),
             "window_parallel: padding must be less than the kernel");
}

bool WindowParallelHandshake::gives() const {
  const std::int64_t x = x_ / shape_.CF;
  return x <= last_x_ && y_ <= last_y_ && x % shape_.SW == 0 && y_ % shape_.SH == 0;
}

void WindowParallelHandshake::move_window() {
  if (++x_ < width_) return;
  x_ = 0;
  if (++y_ == height_) y_ = 0;
}

void WindowParallelHandshake::move_input() {
  if (++in_x_ < width_) return;
  in_x_ = 0;
  if (++in_y_ == height_) in_y_ = 0;
}

void WindowParallelHandshake::clock(std::span<const std::uint8_t> taken,
                                    std::span<const std::uint8_t> given) {
  const bool enters = pipe_.enable() && (taken[0] != 0 || !needs());
  const bool first = x_ == 0 && y_ == 0;
  // Between frames the windows that are left leave without a pixel entering.
  const bool flush = !enters && pipe_.enable() && in_x_ == 0 && in_y_ == 0 && !first;
  const bool waits = first && slack_ > 0;
  const bool moves = (enters || flush) && !waits;
  pipe_.step(moves && gives(), given[0] != 0);
  if (enters && waits) --slack_;
  if (flush) ++slack_;
  if (enters) move_input();
  if (moves) move_window();
}

std::unique_ptr<Handshake> make_window_parallel_handshake(const ModuleParameters& parameters,
                                                          Stages kept) {
  return std::make_unique<WindowParallelHandshake>(RasterShape(parameters), kept);
}

}  // namespace mase::design
