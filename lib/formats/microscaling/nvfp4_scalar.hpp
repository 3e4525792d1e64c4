// SPDX-License-Identifier: Apache-2.0
// The definition of nvfp4 for one element of one block: float32 operations in the order of
// formats.md, section 3. Blocks have a scale of format e4m3fn; with two levels the whole tensor has
// one more, a float32.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "formats/minifloat/minifloat_scalar.hpp"

namespace mase::formats {

/// The element format e2m1 with this rounding.
MinifloatSpec nvfp4_element(Rounding rounding, Seed seed);

/// The tensor's scale t = RN32(amax / 2688) from its largest finite magnitude; 1 for a tensor of
/// zeros. It is at least nvfp4_smallest_scale, so that the reciprocals of scales are finite.
float nvfp4_tensor_scale(float amax);
inline constexpr float nvfp4_smallest_scale = 0x1p-120F;
/// With a larger tensor scale the products of scales may exceed float32.
inline constexpr float nvfp4_largest_scale = 0x1p119F;

/// The scale s of a block from its largest magnitude: a value of e4m3fn from 2^-6 to 448. One level
/// has the same bits as two levels with a tensor scale of 1.
float nvfp4_block_scale(float p, float tensor_scale);

/// The factors of elements: r before they are rounded, and RN32(t * s) afterwards.
struct Nvfp4Factors {
  float down = 1, up = 1;
};
Nvfp4Factors nvfp4_factors(float block_scale, float tensor_scale);

/// The e2m1 element: x * r, cut off at +-6 and rounded. NaN stays NaN.
float nvfp4_element_value(const MinifloatSpec& element, float x, float down, std::uint64_t index);

/// The code of a scale, which is a value of e4m3fn or NaN.
inline std::uint32_t nvfp4_scale_code(float block_scale) {
  if (std::isnan(block_scale)) return 0x7f;
  // Normal in both formats: the exponent moves from bias 127 to 7.
  return (std::bit_cast<std::uint32_t>(block_scale) >> 20) - ((127 - 7) << 3);
}
float nvfp4_scale_value(std::uint32_t code);

}  // namespace mase::formats
