// SPDX-License-Identifier: Apache-2.0
// Formats of two or three values over whole tensors. Every slice has its own values and limits.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "formats/format.hpp"
#include "formats/low_bit/three_way_kernel.hpp"
#include "formats/slices.hpp"

namespace mase::formats {

/// A format's functions for each slice.
struct ThreeWayFormat {
  std::string_view name;
  int bits = 1;            ///< bits of a code
  bool is_scaled = false;  ///< a scale is stored for each slice
  /// The values and limits for a slice, from its elements.
  std::function<kernels::ThreeWay(std::span<const float> slice)> from_elements;
  /// The values for a stored scale (1 when not scaled); limits do not matter.
  std::function<kernels::ThreeWay(float scale)> from_scale;
};

/// Quantizes slice by slice, so that a slice that fits the caches is read from memory once.
void quantize_three_way(const ThreeWayFormat& format, const Slices& slices,
                        std::span<const float> in, std::span<float> out);

/// Encodes; the scales are the slices' `high`. Error(Fault::file) names the index of the first NaN.
Encoded encode_three_way(const ThreeWayFormat& format, const Slices& slices,
                         std::span<const float> in);

/// Decodes; Error(Fault::file) when codes or scales do not fit the format and `out`.
void decode_three_way(const ThreeWayFormat& format, const Slices& slices, const Encoded& in,
                      std::span<float> out);

}  // namespace mase::formats
