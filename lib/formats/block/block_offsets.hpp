// SPDX-License-Identifier: Apache-2.0
// The random numbers that a kernel of stochastic rounding takes, made vector by vector: so few at a
// time that the elements' own operations fill the time in which products are waited for.
#pragma once

#include "formats/offset_lanes.hpp"

namespace mase::formats::kernels {
namespace {

using simd::Simd;

/// An operation that takes the random numbers of its elements, too.
template <class Op>
concept TakesOffsets = requires {
  requires Op::draws;
};

/// An operation of so many steps that stores past the caches, which wait for memory, would keep the
/// next ones from beginning.
template <class Op>
concept IsLong = requires {
  requires Op::is_long;
};

/// Whether to store past the caches. Not beside random numbers: memory has the time to give lines
/// before they are written, and stores past the caches would wait.
template <class Op>
constexpr bool streams = Simd::can_stream && !TakesOffsets<Op>;

/// Those of elements that follow one another; none for other operations.
template <class Op>
class Offsets {
 public:
  MASE_SIMD explicit Offsets(std::uint64_t) {}
  MASE_SIMD void start(std::size_t) {}
  MASE_SIMD const float* next(std::size_t = Simd::width) { return nullptr; }
};

template <TakesOffsets Op>
class Offsets<Op> {
 public:
  MASE_SIMD explicit Offsets(std::uint64_t seed) : maker_(seed) {}

  /// From the tensor's element `index` on.
  MASE_SIMD void start(std::size_t index) {
    index_ = index;
    left_ = 0;
  }
  /// Of the next vector, or of some of its first lanes.
  MASE_SIMD const float* next(std::size_t count = Simd::width) {
    if (left_ < count) draw();
    const float* const numbers = at_;
    at_ += count;
    index_ += count;
    left_ -= count;
    return numbers;
  }

 private:
  static constexpr std::size_t group = 4;  ///< of which the maker makes all

  [[gnu::noinline]] MASE_SIMD_TARGET void draw() {
    const std::size_t before = index_ % group;
    maker_.make(index_ - before, values_, offsets_together);
    at_ = values_ + before;
    left_ = offsets_together - before;
  }

  OffsetMaker maker_;
  std::size_t index_ = 0, left_ = 0;
  const float* at_ = nullptr;
  alignas(64) float values_[offsets_together + Simd::width];
};

}  // namespace
}  // namespace mase::formats::kernels
