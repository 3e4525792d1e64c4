// SPDX-License-Identifier: Apache-2.0
// The random numbers for a kernel of stochastic rounding, made vector by vector: so few at a time
// that the work on elements fills the time spent waiting for products.
#pragma once

#include "formats/offset_lanes.hpp"

namespace mase::formats::kernels {
namespace {

using simd::Simd;

/// An operation that also takes the random numbers of its elements.
template <class Op>
concept TakesOffsets = requires {
  requires Op::draws;
};

/// An operation with so many steps that stores that bypass the caches, which wait for memory, would
/// keep the next operations from beginning.
template <class Op>
concept IsLong = requires {
  requires Op::is_long;
};

/// True when stores bypass the caches. With random numbers they do not: memory has time to deliver
/// lines before they are written, and stores that bypass the caches would wait.
template <class Op>
constexpr bool streams = Simd::can_stream && !TakesOffsets<Op>;

/// The random numbers of consecutive elements; operations that do not take any get none.
template <class Op>
class Offsets {
 public:
  MASE_SIMD explicit Offsets(Seed) {}
  MASE_SIMD void start(std::size_t) {}
  MASE_SIMD const float* next(std::size_t = Simd::width) { return nullptr; }
};

template <TakesOffsets Op>
class Offsets<Op> {
 public:
  MASE_SIMD explicit Offsets(Seed seed) : maker_(seed.key), first_(seed.first) {}

  /// Starts at the tensor's element `index`.
  MASE_SIMD void start(std::size_t index) {
    index_ = first_ + index;
    left_ = 0;
  }
  /// The numbers for the next vector, or for its first `count` lanes.
  MASE_SIMD const float* next(std::size_t count = Simd::width) {
    if (left_ < count) draw();
    const float* const numbers = at_;
    at_ += count;
    index_ += count;
    left_ -= count;
    return numbers;
  }

 private:
  static constexpr std::size_t group = 4;  ///< the maker makes whole groups of numbers

  [[gnu::noinline]] MASE_SIMD_TARGET void draw() {
    const std::size_t before = index_ % group;
    maker_.make(index_ - before, values_, offsets_together);
    at_ = values_ + before;
    left_ = offsets_together - before;
  }

  OffsetMaker maker_;
  std::uint64_t first_;
  std::size_t index_ = 0, left_ = 0;
  const float* at_ = nullptr;
  alignas(64) float values_[offsets_together + Simd::width];
};

}  // namespace
}  // namespace mase::formats::kernels
