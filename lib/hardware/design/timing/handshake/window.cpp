// SPDX-License-Identifier: Apache-2.0
// The ring's counters in plain integers; the formulas are those of mase_window.sv.
#include "hardware/design/timing/handshake/window.hpp"

#include <algorithm>
#include <bit>

#include "hardware/design/modules/primitives.hpp"

namespace mase::design {

WindowShape::WindowShape(const ModuleParameters& p)
    : H(p.integer("H")),
      W(p.integer("W")),
      CF(p.integer("CF")),
      BLOCKS(p.integer("BLOCKS")),
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

std::int64_t WindowShape::depth() const {
  const std::int64_t wanted =
      std::min(reach_y() + SH, 2 * H + std::max<std::int64_t>(PH, 0)) * row();
  const std::int64_t span =
      fine() ? reach_y() * row() + left() : std::max(reach_y(), SH + PH) * row();
  const std::int64_t exact = std::max(wanted, span);
  const auto rounded = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(exact)));
  return 3 * rounded <= 4 * exact ? rounded : exact;
}

std::int64_t WindowShape::free_rows() const { return fine() ? OH - 1 : std::min(OH - 1, H / SH); }

std::int64_t WindowShape::gap() const {
  const std::int64_t inside =
      (last_y() + reach_y() - 1 - PH) * row() + (last_x() + reach_x() - PW) * CF;
  return std::max({inside, frame() - (first_padded() ? 0 : lead()), depth() + left()});
}

WindowHandshake::WindowHandshake(const WindowShape& shape, int stages, Stages kept)
    : shape_(shape),
      free_rows_(shape.free_rows()),
      ahead_(shape.lead() - 1),
      room_(shape.depth() - (shape.fine() ? shape.lead() : shape.PH * shape.row()) - 1),
      pipe_(stages, kept) {
  const WindowShape& s = shape_;
  const std::int64_t block = s.CF / s.BLOCKS;
  size_ = {block, s.KW, s.KH, s.BLOCKS, s.OW, s.OH};
  // Distance of consecutive iterations of each loop; stepping it takes back the loops inside.
  const std::array<std::int64_t, loop_count> pitch = {1,     s.DX * s.CF, s.DY * s.row(),
                                                      block, s.SW * s.CF, s.SH * s.row()};
  std::int64_t inside = 0;
  for (std::size_t i = 0; i < loop_count; ++i) {
    step_[i] = pitch[i] - inside;
    inside += (size_[i] - 1) * pitch[i];
  }
  step_[loop_count] = s.frame() - inside;
  free_[4] = s.fine() ? s.SW * s.CF : 0;
  free_[5] = s.SH * s.row() - (s.OW - 1) * free_[4];
  free_[loop_count] = s.frame() - free_rows_ * s.SH * s.row() - (s.OW - 1) * free_[4];
}

bool WindowHandshake::pad() const {
  const std::int64_t y = at_[5] * shape_.SH - shape_.PH + at_[2] * shape_.DY;
  const std::int64_t x = at_[4] * shape_.SW - shape_.PW + at_[1] * shape_.DX;
  return y < 0 || y >= shape_.H || x < 0 || x >= shape_.W;
}

bool WindowHandshake::can_read() const {
  if (shape_.first_padded() && fresh_) return ahead_ >= shape_.lead();
  return ahead_ >= 0 || (shape_.padded() && pad());
}

int WindowHandshake::advance() {
  for (int i = 0; i < loop_count; ++i) {
    auto& at = at_[static_cast<std::size_t>(i)];
    if (++at < size_[static_cast<std::size_t>(i)]) return i;
    at = 0;
  }
  return loop_count;
}

void WindowHandshake::clock(std::span<const std::uint8_t> taken,
                            std::span<const std::uint8_t> given) {
  const bool take = taken[0] != 0;
  const bool issue = can_read() && pipe_.enable();
  pipe_.step(issue, given[0] != 0);
  ahead_ += take;
  room_ -= take;
  if (!issue) return;
  const bool frees_row = at_[5] < free_rows_;
  const auto loop = static_cast<std::size_t>(advance());
  ahead_ -= step_[loop];
  if (loop != 5 || frees_row) room_ += free_[loop];
  fresh_ = loop == loop_count;
}

void WindowPickHandshake::clock(std::span<const std::uint8_t> taken,
                                std::span<const std::uint8_t> given) {
  const bool take = taken[0] != 0;
  const auto passes = [](std::int64_t place, std::int64_t pad, std::int64_t stride,
                         std::int64_t last) {
    return place + pad >= 0 && (place + pad) % stride == 0 && place + pad <= last;
  };
  const bool keep = passes(x_, shape_.PW, shape_.SW, shape_.last_x()) &&
                    passes(y_, shape_.PH, shape_.SH, shape_.last_y());
  skid_.step(take && keep, given[0] != 0);
  if (!take || ++c_ < shape_.CF) return;
  c_ = 0;
  if (++x_ < shape_.W) return;
  x_ = 0;
  if (++y_ == shape_.H) y_ = 0;
}

std::unique_ptr<Handshake> make_window_handshake(const ModuleParameters& parameters, Stages kept) {
  const WindowShape shape(parameters);
  if (shape.picks()) return std::make_unique<WindowPickHandshake>(shape);
  const std::int64_t width = parameters.integer("LANES") * parameters.integer("DW");
  const int stages = window_in_block.holds(width, shape.depth()) ? 2 : 1;
  return std::make_unique<WindowHandshake>(shape, stages, kept);
}

}  // namespace mase::design
