// SPDX-License-Identifier: Apache-2.0
// The definition of nvfp4 for one element of one block.
#include "formats/microscaling/nvfp4_scalar.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace mase::formats {
namespace {

constexpr float largest_element = 6.0F;
constexpr float largest_block_scale = 448.0F;
constexpr float smallest_block_scale = 0x1p-6F;

MinifloatSpec block_scale_format() {
  MinifloatSpec spec;
  spec.specials = Specials::fn;
  return spec;
}

// Rounds to 3 fraction bits, nearest even, for numbers that are normal in e4m3fn: adding just below
// half a step, and the last kept bit, carries when the step is reached.
float rounded_scale(float a) {
  const auto bits = std::bit_cast<std::uint32_t>(a);
  return std::bit_cast<float>((bits + 0x7ffff + ((bits >> 20) & 1)) & 0xfff00000);
}

}  // namespace

MinifloatSpec nvfp4_element(Rounding rounding, Seed seed) {
  MinifloatSpec spec;
  spec.width = 4;
  spec.exponent_width = 2;
  spec.exponent_bias = 1;
  spec.rounding = rounding;
  spec.seed = seed;
  return spec;
}

float nvfp4_tensor_scale(float amax) {
  if (amax == 0.0F) return 1.0F;
  return std::max(amax / (largest_element * largest_block_scale), nvfp4_smallest_scale);
}

float nvfp4_block_scale(float p, float tensor_scale) {
  const float a = (p / largest_element) / tensor_scale;
  return rounded_scale(std::clamp(a, smallest_block_scale, largest_block_scale));
}

Nvfp4Factors nvfp4_factors(float block_scale, float tensor_scale) {
  return {(1.0F / tensor_scale) / block_scale, tensor_scale * block_scale};
}

float nvfp4_element_value(const MinifloatSpec& element, float x, float down, std::uint64_t index) {
  float scaled = x * down;
  // For `floor`, a negative product that underflows still counts as below 0.
  if (scaled == 0.0F && x != 0.0F) scaled = std::copysign(0x1p-126F, x);
  return quantize_minifloat_scalar(element, scaled, index);
}

float nvfp4_scale_value(std::uint32_t code) {
  return static_cast<float>(minifloat_value(block_scale_format(), code));
}

}  // namespace mase::formats
