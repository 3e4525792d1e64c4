// SPDX-License-Identifier: Apache-2.0
// A delay line: lines of an image, then the taps of each row. The rules are those of the module's
// file.
#include "hardware/design/modules/window_parallel.hpp"

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "hardware/design/modules/paths.hpp"
#include "hardware/design/modules/primitives.hpp"
#include "hardware/design/step_table.hpp"
#include "hardware/design/timing/handshake/pipe.hpp"

namespace mase::design {
namespace {

/// Positions that the delay line passes: the image, and what lies right of it and below until the
/// last window is complete. `lag` pixels lie between a window's position and its last pixel.
struct Raster {
  std::int64_t width, height, lag;
  Raster(const integer::Axis& y, const integer::Axis& x) {
    width = std::max(x.size, x.last() + 1);
    lag = (y.reach() - 1 - y.pad) * width + x.reach() - 1 - x.pad;
    height = std::max({y.size, y.last() + 1, lag / width + 1});
  }
  bool operator==(const Raster&) const = default;
};

/// A frame takes a cycle for every beat of the raster when nothing stalls.
class WindowParallelHandshake final : public HandshakeOf<WindowParallelHandshake> {
 public:
  WindowParallelHandshake(const WindowGeometry& shape, const Raster& raster, Stages kept)
      : shape_(shape),
        height_(raster.height),
        width_(raster.width * shape.beats),
        last_x_(shape.x().last()),
        last_y_(shape.y().last()),
        slack_(raster.lag * shape.beats),
        pipe_(1, kept) {}
  bool ready(int) const override { return pipe_.enable() && needs(); }
  bool valid(int) const override { return pipe_.valid(); }
  std::int64_t quiet() const override {
    const bool flushes = in_x_ == 0 && in_y_ == 0 && (x_ != 0 || y_ != 0);
    return pipe_.enable() && (!needs() || flushes) ? 0 : pipe_.quiet();
  }
  void skip(std::int64_t edges) override { pipe_.skip(edges); }
  void clock(Moves taken, Moves given) override;
  bool operator==(const WindowParallelHandshake&) const = default;

 private:
  bool needs() const { return in_x_ < shape_.width * shape_.beats && in_y_ < shape_.height; }
  bool gives() const;
  void move_window();
  void move_input();

  WindowGeometry shape_;
  std::int64_t height_, width_, last_x_, last_y_;             ///< width_ in beats
  std::int64_t in_x_ = 0, in_y_ = 0, x_ = 0, y_ = 0, slack_;  ///< columns in beats
  Pipe pipe_;
};

bool WindowParallelHandshake::gives() const {
  const std::int64_t x = x_ / shape_.beats;
  return x <= last_x_ && y_ <= last_y_ && x % shape_.stride_x == 0 && y_ % shape_.stride_y == 0;
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

void WindowParallelHandshake::clock(Moves taken, Moves given) {
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

/// The taps of each row, and what keeps the beats between them.
Cost taps_cost(const WindowGeometry& s, std::int64_t beat) {
  const std::int64_t gap = s.dilation_x * s.beats, kept = s.kernel_y * (s.kernel_x - 1) * beat;
  const bool memory = s.kernel_x > 1 && gap > 2;
  Cost cost;
  cost.ff = static_cast<double>(s.kernel_y * beat + kept * (memory ? 1 : gap));
  if (!memory) return cost;
  cost += window_memory_cost(kept, gap - 1);
  cost += counter_cost(gap - 1);
  cost.ff += log2_ceiling(gap - 1);  // the next address
  return cost;
}

/// The rows before the one that enters; block memory has a register behind it.
Cost lines_cost(std::int64_t width, std::int64_t depth) {
  Cost cost;
  cost.ff = static_cast<double>(width);
  if (depth == 1 || width == 0) return cost;
  if (window_in_block.holds(width, depth))
    cost += block_memory_cost(width, depth - 1);
  else
    cost += lut_memory_cost(width, depth);
  cost += counter_cost(depth);
  cost.ff += log2_ceiling(depth);  // the next address
  return cost;
}

}  // namespace

std::unique_ptr<Handshake> WindowParallelModule::handshake(Stages kept) const {
  MASE_CHECK(pad_y < y().reach() && pad_x < x().reach(),
             "window_parallel: padding must be less than the kernel");
  return std::make_unique<WindowParallelHandshake>(*this, Raster(y(), x()), kept);
}

Cost WindowParallelModule::cost(const Design&) const {
  const Raster raster(y(), x());
  const std::int64_t beat = lanes * bits, lines = (y().reach() - 1) * beat;
  Cost cost = skid_cost(kernel_y * kernel_x * beat);
  cost += taps_cost(*this, beat);
  cost += lines_cost(lines, raster.width * beats);
  cost += counters_cost(std::array{raster.width, raster.height, raster.width, raster.height,
                                   raster.lag * beats + 2, stride_y, stride_x, beats, beats});
  cost.lut += 5;
  cost.ff += 3;
  return cost;
}

Paths WindowParallelModule::paths(const Technology& technology) const {
  const std::int64_t beat = lanes * bits, lines = (y().reach() - 1) * beat,
                     line = Raster(y(), x()).width * beats;
  Path place = counter_path(line, technology);
  place.luts += 1;
  const Path masked{.what = "padding", .luts = 2, .readers = static_cast<double>(beat * kernel_y)};
  if (lines == 0 || line == 1) return {place, masked};
  return {place, masked, memory_path(lines, line, window_in_block.holds(lines, line), technology)};
}

ModuleRow WindowParallelModule::row() {
  return row_of_module<WindowParallelModule>({.folder = "window",
                                              .doc = "sliding window, a whole window a cycle",
                                              .uses = {"mase_skid", "mase_window_memory"},
                                              .inputs = {"in"},
                                              .outputs = {"out"}});
}

StreamId add_parallel_window(StepBuilder& builder, StreamId in, const integer::Window& window,
                             Wide pad) {
  Stream out = window_stream(builder.stream(in), builder.name(), window);
  const std::int64_t lanes = out.lanes;
  out.lanes = window.kernel() * lanes;
  const int bits = out.type.width;
  const WindowParallelModule module{window_geometry(window, window.channels / lanes), lanes, bits,
                                    plain_code(pad, bits)};
  return builder.add(module, "_window", {in}, std::move(out));
}

std::int64_t parallel_window_interval(const integer::Window& window, std::int64_t beats,
                                      std::int64_t columns, std::int64_t passes) {
  const integer::Axis &y = window.y, &x = window.x;
  const Raster raster(y, x);
  const std::int64_t line = raster.width * beats, frame = raster.height * line;
  const std::int64_t work = columns * passes;
  // Two windows wait in the skid, and one in the width converter while a row is read again.
  const std::int64_t ahead = 2 * work - 1 + (columns > 1 ? work - columns : 0);
  const auto idle = [&](std::int64_t steps) { return std::max<std::int64_t>(0, steps - ahead); };
  // From the last beat of a pixel, a row and a frame to the first of the next.
  const std::int64_t to_pixel = (x.stride - 1) * beats + 1,
                     to_row = y.stride * line - (x.last() + 1) * beats + 1,
                     to_frame = frame - y.last() * line - (x.last() + 1) * beats + 1;
  const std::int64_t pixel = std::max(x.stride * beats, beats * work + idle(to_pixel));
  const std::int64_t windows = (x.out - 1) * pixel + beats * work;
  const std::int64_t row = std::max(y.stride * line, windows + idle(to_row));
  return std::max(frame, (y.out - 1) * row + windows + idle(to_frame));
}

}  // namespace mase::design
