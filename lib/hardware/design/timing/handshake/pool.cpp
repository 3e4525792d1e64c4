// SPDX-License-Identifier: Apache-2.0
// Counting of pixels for the handshake model of mase_pool.
#include "hardware/design/timing/handshake/pool.hpp"

namespace mase::design {

PoolHandshake::PoolHandshake(std::int64_t height, std::int64_t width, std::int64_t beats,
                             std::int64_t kernel_height, std::int64_t kernel_width, Stages kept,
                             int stages)
    : height_(height),
      width_(width),
      beats_(beats),
      kernel_height_(kernel_height),
      kernel_width_(kernel_width),
      pipe_(stages, kept) {}

void PoolHandshake::clock(std::span<const std::uint8_t> taken,
                          std::span<const std::uint8_t> given) {
  const bool take = taken[0] != 0;
  // A dropped row or column never reaches the end of a window.
  const bool gives = take && kx_ == kernel_width_ - 1 && ky_ == kernel_height_ - 1;
  pipe_.step(gives, given[0] != 0);
  if (take) advance();
}

void PoolHandshake::advance() {
  if (++c_ < beats_) return;
  c_ = 0;
  if (++kx_ == kernel_width_) kx_ = 0;
  if (++x_ < width_) return;
  x_ = kx_ = 0;
  if (++ky_ == kernel_height_) ky_ = 0;
  if (++y_ == height_) y_ = ky_ = 0;
}

}  // namespace mase::design
