// SPDX-License-Identifier: Apache-2.0
// Handshake models of hw_templates/window/mase_window: the ring with its reader, and the pick of
// single pixels.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "hardware/design/module_parameters.hpp"
#include "hardware/design/timing/handshake/pipe.hpp"

namespace mase::design {

/// Parameters of `window` and what follows from them, named as in the module.
struct WindowShape {
  // NOLINTNEXTLINE(readability-identifier-naming)
  std::int64_t H, W, CF, BLOCKS, KH, KW, SH, SW, DY, DX, PH, PW, OH, OW;

  explicit WindowShape(const ModuleParameters& parameters);
  bool operator==(const WindowShape&) const = default;
  std::int64_t reach_y() const { return (KH - 1) * DY + 1; }
  std::int64_t reach_x() const { return (KW - 1) * DX + 1; }
  std::int64_t last_y() const { return (OH - 1) * SH; }
  std::int64_t last_x() const { return (OW - 1) * SW; }
  bool first_padded() const { return PH > 0 || PW > 0; }
  bool padded() const {
    return first_padded() || last_y() + reach_y() - PH > H || last_x() + reach_x() - PW > W;
  }
  bool picks() const { return KH == 1 && KW == 1 && !padded(); }
  /// All before the window's first beat is free (see mase_window.sv).
  bool fine() const { return last_y() < H && last_x() < W; }
  std::int64_t row() const { return W * CF; }
  std::int64_t frame() const { return H * row(); }
  std::int64_t lead() const { return PH * row() + PW * CF; }
  std::int64_t left() const { return PW > 0 ? PW * CF : 0; }
  std::int64_t depth() const;      ///< beats in the ring
  std::int64_t free_rows() const;  ///< output rows that free something before the frame's end
  /// The greatest distance between reader and writer: width of the module's counter `ahead`.
  std::int64_t gap() const;
};

/// `window` with a ring. One step is a few integer operations.
class WindowHandshake final : public HandshakeOf<WindowHandshake> {
 public:
  /// `stages`: registers between the ring's address and the skid.
  WindowHandshake(const WindowShape& shape, int stages, Stages kept);
  bool ready(int) const override { return room_ >= 0; }
  bool valid(int) const override { return pipe_.valid(); }
  std::int64_t quiet() const override { return pipe_.enable() && can_read() ? 0 : pipe_.quiet(); }
  void skip(std::int64_t edges) override { pipe_.skip(edges); }
  void clock(std::span<const std::uint8_t> taken, std::span<const std::uint8_t> given) override;
  bool operator==(const WindowHandshake&) const = default;

 private:
  static constexpr int loop_count = 6;  ///< c, kx, ky, block, ox, oy: innermost first
  bool pad() const;
  bool can_read() const;
  int advance();  ///< to the next beat; the innermost loop that went on, loop_count at the frame's
                  ///< end

  WindowShape shape_;
  std::array<std::int64_t, loop_count> size_, at_{};
  std::array<std::int64_t, loop_count + 1> step_, free_{};  ///< by the loop that goes on
  std::int64_t free_rows_;
  std::int64_t ahead_, room_;
  bool fresh_ = true;
  Pipe pipe_;
};

/// `window` of one pixel: drops what lies between the strides.
class WindowPickHandshake final : public HandshakeOf<WindowPickHandshake> {
 public:
  explicit WindowPickHandshake(const WindowShape& shape) : shape_(shape) {}
  bool ready(int) const override { return skid_.ready(); }
  bool valid(int) const override { return skid_.valid(); }
  std::int64_t quiet() const override { return forever; }
  void clock(std::span<const std::uint8_t> taken, std::span<const std::uint8_t> given) override;
  bool operator==(const WindowPickHandshake&) const = default;

 private:
  WindowShape shape_;
  std::int64_t c_ = 0, x_ = 0, y_ = 0;
  Skid skid_;
};

/// The ring or the pick, as mase_window chooses.
std::unique_ptr<Handshake> make_window_handshake(const ModuleParameters& parameters, Stages kept);

}  // namespace mase::design
