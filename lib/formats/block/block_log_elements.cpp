// SPDX-License-Identifier: Apache-2.0
// The definition of block_log for one tile and one element, in both profiles.
#include "formats/block/block_log_elements.hpp"

#include <algorithm>
#include <cmath>

#include "formats/minifloat/reference_log2.hpp"
#include "formats/scalars.hpp"
#include "formats/scale_rule.hpp"

namespace mase::formats {
namespace {

// The exponent of the power of two nearest to p > 0, in the log domain.
int nearest_exponent(float p) {
  const int below = exponent_of(p);
  // The largest double below sqrt(2): p has fewer bits.
  return std::ldexp(static_cast<double>(p), -below) > 0x1.6a09e667f3bccp0 ? below + 1 : below;
}

}  // namespace

LogSpec BlockLogSpec::element(int top_exponent, Profile profile) const {
  LogSpec element;
  element.width = width;
  element.exponent_bias = (1 << (width - 1)) - 1 - top_exponent;
  element.rounding = rounding;
  element.profile = profile;
  element.seed = seed;
  return element;
}

int BlockLogElements::exponent(const TilePeak& peak) const {
  if (peak.largest == 0.0F) return 0;
  return clamp_signed(nearest_exponent(peak.largest), spec_.exponent_bias_width);
}

int BlockLogElements::highest_exponent() const {
  return highest_block_exponent(spec_.exponent_bias_width);
}

std::uint32_t BlockLogElements::shared_code(int exponent) const {
  return signed_code(exponent, spec_.exponent_bias_width);
}

int BlockLogElements::exponent_of_code(std::uint32_t shared_code) const {
  return signed_value(shared_code, spec_.exponent_bias_width);
}

double BlockLogElements::largest(int exponent) const { return power_of_two(exponent); }

double BlockLogElements::quantize(double x, int exponent, std::uint64_t index) const {
  return quantize_log_exact(spec_.element(exponent), x, index);
}

std::uint32_t BlockLogElements::code(double value, int exponent) const {
  return log_code(spec_.element(exponent), value);
}

double BlockLogElements::value(std::uint32_t code, int exponent) const {
  return log_value(spec_.element(exponent), code);
}

int BlockLogElements::reference_exponent(float p) const {
  const int top_code = (1 << (spec_.width - 1)) - 1;
  const int highest = (1 << spec_.exponent_bias_width) - 1;
  return top_code - (std::isinf(p) ? 0 : std::clamp(top_code - ceiled_log2()(p), 0, highest));
}

// A float32 product, unlike log_zeta.
float BlockLogElements::reference_zeta(int exponent) const {
  const int bias = (1 << (spec_.width - 1)) - 1 - exponent;  // as in element()
  return float_power(-bias) * 0.1F;
}

void BlockLogElements::fill_reference(int exponent, std::size_t tile,
                                      kernels::TileFactors& factors) const {
  BlockElements::fill_reference(exponent, tile, factors);
  factors.of(kernels::reference_zeta)[tile] = reference_zeta(exponent);
}

float BlockLogElements::quantize_reference(float x, int exponent, bool adds_zero) const {
  const LogSpec element = spec_.element(exponent, Profile::reference);
  const float value = quantize_log_reference(element, x, reference_zeta(exponent));
  return adds_zero ? value + 0.0F : value;
}

ReferenceBlock BlockLogElements::reference_kernel(simd::Isa isa) const {
  return {kernels::reference_block_kernels(isa).block_log,
          {nearest_log2().carries(), 1.0F, (1 << (spec_.width - 1)) - 1}};
}

TileScale BlockLogElements::tile_scale() const {
  // Fractions from that of the first float32 above sqrt(2) on carry into the exponent.
  const ScaleBits bits{0x800000 - 0x3504f4, 127, true};
  return {bits, clamp_signed(-150, spec_.exponent_bias_width), highest_exponent(),
          kernels::scaled_top};
}

DeviceQuantizer BlockLogElements::on_device(const kernels::DeviceTiles& tiles) const {
  const LogSpec scaled = spec_.element(kernels::scaled_top);
  if (!kernels::fits_float32(scaled)) return nullptr;
  const TileScale scale = tile_scale();
  constexpr int more_fraction_bits = 52 - 23;
  const FastExponent exponent{scale.low, scale.high, 1023,
                              std::uint64_t{scale.bits.carry} << more_fraction_bits, 0};
  return tile_quantizer(&kernels::TileKernels::block_log, spec_.rounding, kernels::log_grid(scaled),
                        scale.scaled(tiles, exponent, 0), spec_.seed);
}

std::optional<BlockKernel> BlockLogElements::kernel(simd::Isa isa) const {
  const LogSpec scaled = spec_.element(kernels::scaled_top);
  if (!kernels::fits_float32(scaled)) return std::nullopt;
  return scaled_kernel(*this, kernels::block_log_kernels(isa).values[spec_.rounding],
                       kernels::log_grid(scaled));
}

std::optional<BlockKernel> BlockLogElements::code_kernel(simd::Isa isa) const {
  const LogSpec scaled = spec_.element(kernels::scaled_top);
  if (!kernels::fits_float32(scaled)) return std::nullopt;
  return scaled_kernel(*this, kernels::block_log_kernels(isa).codes[spec_.rounding],
                       kernels::log_grid(scaled));
}

}  // namespace mase::formats
