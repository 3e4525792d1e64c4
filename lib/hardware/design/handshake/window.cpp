// SPDX-License-Identifier: Apache-2.0
// The ring's counters in plain integers; the formulas are those of mase_window.sv.
#include "hardware/design/handshake/window.hpp"

#include <algorithm>
#include <bit>

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
      PH(p.integer("PH")),
      PW(p.integer("PW")) {}

std::int64_t WindowShape::depth() const {
  const std::int64_t wanted = std::min(KH + SH, 2 * H + PH) * row();
  const std::int64_t span = fine() ? KH * row() + PW * CF : std::max(KH, SH + PH) * row();
  const std::int64_t exact = std::max(wanted, span);
  const auto rounded = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(exact)));
  return 3 * rounded <= 4 * exact ? rounded : exact;
}

std::int64_t WindowShape::free_rows() const {
  return fine() ? out_height() - 1 : std::min(out_height() - 1, H / SH);
}

std::int64_t WindowShape::gap() const {
  return std::max((H + PH + 1) * row() + (KW + PW) * CF, depth() + PW * CF);
}

WindowHandshake::WindowHandshake(const WindowShape& shape, Stages kept)
    : shape_(shape),
      free_rows_(shape.free_rows()),
      ahead_(shape.lead() - 1),
      room_(shape.depth() - (shape.fine() ? shape.lead() : shape.PH * shape.row()) - 1),
      pipe_(1, kept) {
  const WindowShape& s = shape_;
  const std::int64_t block = s.CF / s.BLOCKS, width = s.out_width(), height = s.out_height();
  size_ = {block, s.KW, s.KH, s.BLOCKS, width, height};
  // Distance of consecutive iterations of each loop; stepping it takes back the loops inside.
  const std::array<std::int64_t, loop_count> pitch = {1,     s.CF,        s.row(),
                                                      block, s.SW * s.CF, s.SH * s.row()};
  std::int64_t inside = 0;
  for (std::size_t i = 0; i < loop_count; ++i) {
    step_[i] = pitch[i] - inside;
    inside += (size_[i] - 1) * pitch[i];
  }
  step_[loop_count] = s.frame() - inside;
  free_[4] = s.fine() ? s.SW * s.CF : 0;
  free_[5] = s.SH * s.row() - (width - 1) * free_[4];
  free_[loop_count] = s.frame() - free_rows_ * s.SH * s.row() - (width - 1) * free_[4];
}

bool WindowHandshake::pad() const {
  const std::int64_t y = at_[5] * shape_.SH - shape_.PH + at_[2];
  const std::int64_t x = at_[4] * shape_.SW - shape_.PW + at_[1];
  return y < 0 || y >= shape_.H || x < 0 || x >= shape_.W;
}

bool WindowHandshake::can_read() const {
  if (shape_.padded() && fresh_) return ahead_ >= shape_.lead();
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
  bool go = ahead_ >= 0;
  if (shape_.padded()) go = fresh_ ? ahead_ + take >= shape_.lead() : go || pad();
  const bool issue = go && pipe_.enable();
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
  skid_.step(take && x_ % shape_.SW == 0 && y_ % shape_.SH == 0, given[0] != 0);
  if (!take || ++c_ < shape_.CF) return;
  c_ = 0;
  if (++x_ < shape_.W) return;
  x_ = 0;
  if (++y_ == shape_.H) y_ = 0;
}

std::unique_ptr<Handshake> make_window_handshake(const ModuleParameters& parameters, Stages kept) {
  const WindowShape shape(parameters);
  if (shape.picks()) return std::make_unique<WindowPickHandshake>(shape);
  return std::make_unique<WindowHandshake>(shape, kept);
}

}  // namespace mase::design
