// SPDX-License-Identifier: Apache-2.0
// The definition of block_minifloat for one tile and one element, in both profiles.
#include "formats/block/block_minifloat_elements.hpp"

#include <algorithm>
#include <cmath>

#include "formats/minifloat/reference_log2.hpp"

namespace mase::formats {
namespace {

bool has_scaled_kernel(const MinifloatSpec& scaled) {
  return kernels::minifloat_range(scaled) == kernels::MinifloatRange::narrow &&
         (scaled.rounding != Rounding::stochastic || kernels::draws_by_addition(scaled));
}

}  // namespace

MinifloatSpec BlockMinifloatSpec::element(int top_exponent, Profile profile) const {
  MinifloatSpec element;
  element.width = width;
  element.exponent_width = exponent_width;
  element.exponent_bias = (1 << exponent_width) - 1 - top_exponent;
  element.rounding = rounding;
  element.profile = profile;
  element.seed = seed;
  return element;
}

ElementTop BlockMinifloatSpec::top() const {
  return {0, element(0).mantissa_bits(), element(0).largest()};
}

int BlockMinifloatElements::exponent(const TilePeak& peak) const {
  if (peak.largest == 0.0F) return 0;
  return clamp_signed(scale_exponent(spec_.scale_rule, spec_.top(), peak.largest),
                      spec_.exponent_bias_width);
}

int BlockMinifloatElements::highest_exponent() const {
  return highest_block_exponent(spec_.exponent_bias_width);
}

std::uint32_t BlockMinifloatElements::shared_code(int exponent) const {
  return signed_code(exponent, spec_.exponent_bias_width);
}

int BlockMinifloatElements::exponent_of_code(std::uint32_t shared_code) const {
  return signed_value(shared_code, spec_.exponent_bias_width);
}

double BlockMinifloatElements::largest(int exponent) const {
  return spec_.element(exponent).largest();
}

double BlockMinifloatElements::quantize(double x, int exponent, std::uint64_t index) const {
  return quantize_minifloat_exact(spec_.element(exponent), x, index);
}

std::uint32_t BlockMinifloatElements::code(double value, int exponent) const {
  return minifloat_code(spec_.element(exponent), value);
}

double BlockMinifloatElements::value(std::uint32_t code, int exponent) const {
  return minifloat_value(spec_.element(exponent), code);
}

// The reference system takes the logarithm for the bias itself.
int BlockMinifloatElements::reference_exponent(float p) const {
  const int highest = (1 << spec_.exponent_bias_width) - 1;
  return (1 << spec_.exponent_width) - 1 - std::clamp(floored_log2()(p), 0, highest);
}

float BlockMinifloatElements::quantize_reference(float x, int exponent, bool adds_zero) const {
  const float value = quantize_minifloat_scalar(spec_.element(exponent, Profile::reference), x, 0);
  return adds_zero ? value + 0.0F : value;
}

ReferenceBlock BlockMinifloatElements::reference_kernel(simd::Isa isa) const {
  const int mantissa_bits = spec_.element(0).mantissa_bits();
  return {
      kernels::reference_block_kernels(isa).block_minifloat,
      {floored_log2().carries(), std::ldexp(1.0F, mantissa_bits), (1 << spec_.exponent_width) - 1}};
}

TileScale BlockMinifloatElements::tile_scale() const {
  return {scale_bits(spec_.scale_rule, spec_.top()), clamp_signed(-150, spec_.exponent_bias_width),
          highest_exponent(), kernels::scaled_top};
}

DeviceQuantizer BlockMinifloatElements::on_device(const kernels::DeviceTiles& tiles) const {
  const MinifloatSpec scaled = spec_.element(kernels::scaled_top);
  if (!has_scaled_kernel(scaled)) return nullptr;
  const TileScale scale = tile_scale();
  const FastExponent exponent = fast_exponent(spec_.scale_rule, spec_.top(), scale.low, scale.high);
  return tile_quantizer(&kernels::TileKernels::block_minifloat, spec_.rounding,
                        kernels::block_minifloat_grid(scaled), scale.scaled(tiles, exponent, 0),
                        spec_.seed);
}

std::optional<BlockKernel> BlockMinifloatElements::kernel(simd::Isa isa) const {
  const MinifloatSpec scaled = spec_.element(kernels::scaled_top);
  if (!has_scaled_kernel(scaled)) return std::nullopt;
  return scaled_kernel(*this, kernels::block_minifloat_kernels(isa).values[spec_.rounding],
                       kernels::block_minifloat_grid(scaled));
}

std::optional<BlockKernel> BlockMinifloatElements::code_kernel(simd::Isa isa) const {
  const MinifloatSpec scaled = spec_.element(kernels::scaled_top);
  if (!has_scaled_kernel(scaled)) return std::nullopt;
  return scaled_kernel(*this, kernels::block_minifloat_kernels(isa).codes[spec_.rounding],
                       kernels::block_minifloat_grid(scaled));
}

}  // namespace mase::formats
