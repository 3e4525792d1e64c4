// SPDX-License-Identifier: Apache-2.0
// Handshake model of hw_templates/window/mase_pool, and of what gives a beat for a row.
#pragma once

#include <cstdint>
#include <memory>

#include "hardware/design/timing/handshake/pipe.hpp"

namespace mase::design {

/// Takes a beat whenever its pipeline moves; the last beats of each window give one.
class PoolHandshake final : public HandshakeOf<PoolHandshake> {
 public:
  /// Frames of height x width pixels of `beats` beats, windows of kernel_height x kernel_width;
  /// `stages` registers before the skid.
  PoolHandshake(std::int64_t height, std::int64_t width, std::int64_t beats,
                std::int64_t kernel_height, std::int64_t kernel_width, Stages kept, int stages = 2);
  bool ready(int) const override { return pipe_.enable(); }
  bool valid(int) const override { return pipe_.valid(); }
  std::int64_t quiet() const override { return pipe_.quiet(); }
  void skip(std::int64_t edges) override { pipe_.skip(edges); }
  void clock(std::span<const std::uint8_t> taken, std::span<const std::uint8_t> given) override;
  bool operator==(const PoolHandshake&) const = default;

 private:
  void advance();

  std::int64_t height_, width_, beats_, kernel_height_, kernel_width_;
  std::int64_t c_ = 0, x_ = 0, y_ = 0;
  std::int64_t kx_ = 0, ky_ = 0;  ///< x_ and y_ modulo the kernel
  Pipe pipe_;
};

}  // namespace mase::design
