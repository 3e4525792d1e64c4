// SPDX-License-Identifier: Apache-2.0
// Weighted sums of pixels, for each instruction set (data/image_resize.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "simd/kernels.hpp"

namespace mase::data::kernels {

constexpr int fraction_bits = 22;  ///< of weights, which are 0 to 1
constexpr int low_bits = 11;       ///< of the lower half of a weight
constexpr std::size_t tap_group = 4;
/// Bytes after a row of pixels that may be read, and after a row of results that may be written.
constexpr std::size_t row_padding = 16;

/// The old pixels of the new pixels of a row, tap_group after tap_group.
struct RowTaps {
  const std::int32_t* first;  ///< the first old pixel of each new one
  std::size_t groups;         ///< of taps, the same for all; taps that are not needed weigh 0
  const std::int32_t* weights;
  /// The same weights for red, green and blue: for each group the upper halves of taps 0 and 1 as
  /// three pairs and two zeros, those of taps 2 and 3, and then the lower halves.
  const std::int16_t* halves;
};

struct ResizeKernels {
  /// Writes `count` new pixels of 1 or 3 channels.
  void (*grey_row)(const std::uint8_t* row, const RowTaps& taps, std::size_t count,
                   std::uint8_t* to);
  void (*colour_row)(const std::uint8_t* row, const RowTaps& taps, std::size_t count,
                     std::uint8_t* to);
  /// Writes the weighted sum of `count` rows of `size` bytes, of which `sums` has room for one.
  void (*add_rows)(const std::uint8_t* rows, std::size_t size, const std::int32_t* weights,
                   std::size_t count, std::int32_t* sums, std::uint8_t* to);
};
MASE_KERNELS(ResizeKernels, resize_kernels, avx512);

}  // namespace mase::data::kernels
