// SPDX-License-Identifier: Apache-2.0
// The definition of block_fp for one tile and one element, in both profiles.
#include "formats/block/block_fp_elements.hpp"

#include <algorithm>
#include <cmath>

#include "formats/minifloat/reference_log2.hpp"
#include "formats/scalars.hpp"

namespace mase::formats {
namespace {

float reference_sign(float x) {
  const float lifted = x + reference_epsilon;
  return lifted > 0.0F ? 1.0F : lifted < 0.0F ? -1.0F : 0.0F;
}

}  // namespace

double BlockFpSpec::largest_magnitude() const { return std::ldexp(1.0, width - 1) - 1.0; }

ElementTop BlockFpSpec::top() const { return {0, width - 2, 2.0 - std::ldexp(1.0, 2 - width)}; }

int BlockFpElements::exponent(const TilePeak& peak) const {
  if (peak.largest == 0.0F) return spec_.lowest_exponent();
  return std::clamp(scale_exponent(spec_.scale_rule, spec_.top(), peak.largest) + 1,
                    spec_.lowest_exponent(), spec_.highest_exponent());
}

std::uint32_t BlockFpElements::shared_code(int exponent) const {
  return static_cast<std::uint32_t>(exponent + spec_.exponent_bias);
}

int BlockFpElements::exponent_of_code(std::uint32_t shared_code) const {
  return static_cast<int>(shared_code) - spec_.exponent_bias;
}

double BlockFpElements::largest(int exponent) const {
  return std::ldexp(spec_.largest_magnitude(), exponent - spec_.fraction_bits());
}

// x / 2^(E - (w - 1)) is exact, since exponents stay far within those of double.
double BlockFpElements::quantize(double x, int exponent, std::uint64_t index) const {
  const double u =
      spec_.rounding == Rounding::stochastic ? stochastic_offset(spec_.seed, index) : 0.0;
  const double limit = spec_.largest_magnitude();
  const double integer =
      round_to_integer(std::ldexp(x, spec_.fraction_bits() - exponent), spec_.rounding, u);
  return std::ldexp(std::copysign(std::clamp(integer, -limit, limit), x),
                    exponent - spec_.fraction_bits());
}

std::uint32_t BlockFpElements::code(double value, int exponent) const {
  const double magnitude = std::ldexp(std::abs(value), spec_.fraction_bits() - exponent);
  const std::uint32_t sign = std::signbit(value) ? std::uint32_t{1} << (spec_.width - 1) : 0;
  return sign | static_cast<std::uint32_t>(magnitude);
}

double BlockFpElements::value(std::uint32_t code, int exponent) const {
  const std::uint32_t sign = std::uint32_t{1} << (spec_.width - 1);
  const double magnitude =
      std::ldexp(static_cast<double>(code & (sign - 1)), exponent - spec_.fraction_bits());
  return (code & sign) != 0 ? -magnitude : magnitude;
}

int BlockFpElements::reference_exponent(float p) const {
  return std::clamp(ceiled_log2()(p), spec_.lowest_exponent(), spec_.highest_exponent());
}

// Every line consists of float32 operations of the reference system.
float BlockFpElements::quantize_reference(float x, int exponent, bool adds_zero) const {
  if (std::isnan(x)) return x;
  const float power = std::ldexp(1.0F, exponent);
  const float unit = std::ldexp(1.0F, spec_.fraction_bits());
  const float scaled = ((std::abs(x) + reference_epsilon) / power) * unit;
  const float magnitude = std::clamp(std::nearbyint(scaled), 0.0F, unit - 1.0F);
  const float value = (reference_sign(x) * power) * (magnitude / unit);
  return reference_mix(x, adds_zero ? value + 0.0F : value);
}

void BlockFpElements::fill_reference(int exponent, std::size_t tile,
                                     kernels::TileFactors& factors) const {
  factors.of(kernels::reference_top)[tile] = float_power(exponent);
}

ReferenceBlock BlockFpElements::reference_kernel(simd::Isa isa) const {
  return {kernels::reference_block_kernels(isa).block_fp,
          {nullptr, std::ldexp(1.0F, spec_.fraction_bits()), 0}};
}

TileScale BlockFpElements::tile_scale() const {
  ScaleBits bits = scale_bits(spec_.scale_rule, spec_.top());
  --bits.offset;  // E = X + 1
  return {bits, spec_.lowest_exponent(), spec_.highest_exponent(), spec_.fraction_bits()};
}

DeviceQuantizer BlockFpElements::on_device(const kernels::DeviceTiles& tiles) const {
  constexpr int less = 1;  // X = E - 1
  const FastExponent exponent =
      fast_exponent(spec_.scale_rule, spec_.top(), spec_.lowest_exponent() - less,
                    spec_.highest_exponent() - less);
  const kernels::BlockFpGrid grid{static_cast<float>(spec_.largest_magnitude()), 0};
  return tile_quantizer(&kernels::TileKernels::block_fp, spec_.rounding, grid,
                        tile_scale().scaled(tiles, exponent, spec_.lowest_exponent(), less),
                        spec_.seed);
}

std::optional<BlockKernel> BlockFpElements::kernel(simd::Isa isa) const {
  const kernels::BlockFpGrid grid{static_cast<float>(spec_.largest_magnitude()), 0};
  return scaled_kernel(*this, kernels::block_fp_kernels(isa).values[spec_.rounding], grid);
}

// Wider magnitudes exceed the range in which vectors convert to integers.
std::optional<BlockKernel> BlockFpElements::code_kernel(simd::Isa isa) const {
  constexpr int widest = 23;
  if (spec_.width > widest) return std::nullopt;
  const kernels::BlockFpGrid grid{static_cast<float>(spec_.largest_magnitude()), 32 - spec_.width};
  return scaled_kernel(*this, kernels::block_fp_kernels(isa).codes[spec_.rounding], grid);
}

}  // namespace mase::formats
