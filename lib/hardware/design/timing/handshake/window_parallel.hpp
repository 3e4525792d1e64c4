// SPDX-License-Identifier: Apache-2.0
// Handshake model of hw_templates/window/mase_window_parallel.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "hardware/design/module_parameters.hpp"
#include "hardware/design/timing/handshake/pipe.hpp"

namespace mase::design {

/// Parameters of `window_parallel` and what follows from them, named as in the module.
struct RasterShape {
  // NOLINTNEXTLINE(readability-identifier-naming)
  std::int64_t H, W, CF, KH, KW, SH, SW, DY, DX, PH, PW, OH, OW;

  explicit RasterShape(const ModuleParameters& parameters);
  bool operator==(const RasterShape&) const = default;
  std::int64_t reach_y() const { return (KH - 1) * DY + 1; }  ///< EH
  std::int64_t reach_x() const { return (KW - 1) * DX + 1; }  ///< EW
  std::int64_t last_y() const { return (OH - 1) * SH; }
  std::int64_t last_x() const { return (OW - 1) * SW; }
  std::int64_t height() const { return std::max({H, last_y() + 1, lag() / width() + 1}); }  ///< HP
  std::int64_t width() const { return std::max(W, last_x() + 1); }                          ///< WP
  /// LAG in pixels
  std::int64_t lag() const { return (reach_y() - 1 - PH) * width() + reach_x() - 1 - PW; }
};

/// A frame takes height() * width() * CF cycles when nothing stalls.
class WindowParallelHandshake final : public HandshakeOf<WindowParallelHandshake> {
 public:
  WindowParallelHandshake(const RasterShape& shape, Stages kept);
  bool ready(int) const override { return pipe_.enable() && needs(); }
  bool valid(int) const override { return pipe_.valid(); }
  std::int64_t quiet() const override {
    const bool flushes = in_x_ == 0 && in_y_ == 0 && (x_ != 0 || y_ != 0);
    return pipe_.enable() && (!needs() || flushes) ? 0 : pipe_.quiet();
  }
  void skip(std::int64_t edges) override { pipe_.skip(edges); }
  void clock(std::span<const std::uint8_t> taken, std::span<const std::uint8_t> given) override;
  bool operator==(const WindowParallelHandshake&) const = default;

 private:
  bool needs() const { return in_x_ < shape_.W * shape_.CF && in_y_ < shape_.H; }
  bool gives() const;
  void move_window();
  void move_input();

  RasterShape shape_;
  std::int64_t height_, width_, last_x_, last_y_;             ///< width_ in beats
  std::int64_t in_x_ = 0, in_y_ = 0, x_ = 0, y_ = 0, slack_;  ///< columns in beats
  Pipe pipe_;
};

/// Internal error when the padding is not less than the kernel.
std::unique_ptr<Handshake> make_window_parallel_handshake(const ModuleParameters& parameters,
                                                          Stages kept);

}  // namespace mase::design
