// SPDX-License-Identifier: Apache-2.0
// The common parts of block_fp, block_minifloat and block_log: a power of two per tile, given by an
// exponent, which determines the values of elements. Each format defines its exponent's meaning.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "formats/block/block_engine.hpp"
#include "formats/block/block_kernels.hpp"
#include "formats/block/block_reference_kernel.hpp"
#include "formats/device/tile_quantizer.hpp"
#include "formats/format.hpp"
#include "formats/rounding.hpp"
#include "formats/scale_rule.hpp"

namespace mase::formats {

class BlockElements;

/// BlockElements::exponent as integer arithmetic, for the peaks that `bits` cover, and the exponent
/// to which kernels scale tiles.
struct TileScale {
  ScaleBits bits;
  int low = 0, high = 0;  ///< limits of exponents
  int top = 0;            ///< kernels scale by 2^(top - exponent)

  int exponent(const BlockElements& elements, const TilePeak& peak) const;
  /// Fills the factors of tiles by kernels::set_scale.
  void fill(const BlockElements& elements, std::span<const TilePeak> peaks,
            kernels::TileFactors& factors) const;
  kernels::PowerRule rule() const { return power_rule(bits, low, high, top, -top); }
  /// The tiles with the rule of this scale. `exponent` is that of kernels' elements minus `less`.
  kernels::DeviceTiles scaled(kernels::DeviceTiles tiles, const FastExponent& exponent, int zero,
                              int less = 0) const {
    tiles.rule = {rule(), exponent, zero - less, top - less, less - top, false};
    return tiles;
  }
};

/// A kernel of profile `reference`, with its numbers.
struct ReferenceBlock {
  kernels::ReferenceStrip on_strip = nullptr;
  kernels::ReferenceBlockGrid grid;
};

/// The definition of a block format, one tile and one element at a time, and its kernels.
class BlockElements {
 public:
  virtual ~BlockElements() = default;
  virtual std::string_view name() const = 0;
  virtual int element_bits() const = 0;
  virtual int shared_bits() const = 0;

  /// Profile `exact`: the exponent of a tile, within the range of the shared code.
  virtual int exponent(const TilePeak& peak) const = 0;
  virtual TileScale tile_scale() const = 0;
  virtual int highest_exponent() const = 0;
  virtual std::uint32_t shared_code(int exponent) const = 0;
  virtual int exponent_of_code(std::uint32_t shared_code) const = 0;
  /// The largest magnitude in a tile of this exponent.
  virtual double largest(int exponent) const = 0;

  /// Profile `exact`: the value of an element, not rounded to float32. NaN stays NaN, infinities
  /// saturate. `index` counts elements of the tensor (stochastic only).
  virtual double quantize(double x, int exponent, std::uint64_t index) const = 0;
  /// The code of a value that `quantize` returned, other than NaN.
  virtual std::uint32_t code(double value, int exponent) const = 0;
  virtual double value(std::uint32_t code, int exponent) const = 0;

  /// Profile `reference`: the exponent of a tile whose largest magnitude is p, a number above 0.
  virtual int reference_exponent(float p) const = 0;
  /// Profile `reference`: the kernel's factors for a tile, except ReferenceFactor's NaN.
  virtual void fill_reference(int exponent, std::size_t tile, kernels::TileFactors& factors) const;
  /// Profile `reference`: float32 operations. With `adds_zero`, tiles are put back by adding to +0.
  virtual float quantize_reference(float x, int exponent, bool adds_zero) const = 0;

  /// The kernel for GPUs of these tiles, whose rule it sets; null when there is none.
  virtual DeviceQuantizer on_device(const kernels::DeviceTiles& tiles) const = 0;

  /// The kernel of profile `reference`, and its numbers except the addend.
  virtual ReferenceBlock reference_kernel(simd::Isa isa) const = 0;

  /// Kernels with the same bits, for values and for codes; nullopt when there is no such kernel.
  virtual std::optional<BlockKernel> kernel(simd::Isa isa) const = 0;
  virtual std::optional<BlockKernel> code_kernel(simd::Isa isa) const = 0;
};

/// The kernel for elements on a grid to which tiles are scaled; elements.seed() is the seed of
/// stochastic rounding.
template <class Elements, class Grid>
BlockKernel scaled_kernel(const Elements& elements, const kernels::GridKernel<Grid>& kernel,
                          const Grid& grid) {
  const TileScale scale = elements.tile_scale();
  const auto fill = [elements, scale](std::span<const TilePeak> peaks,
                                      kernels::TileFactors& factors) {
    scale.fill(elements, peaks, factors);
  };
  return {kernels::scaled_factors,
          fill,
          [kernel, grid](const kernels::Strip& strip, const kernels::TileFactors& factors) {
            kernel.on_strip(grid, strip, factors);
          },
          [kernel, grid, rule = scale.rule()](const kernels::Runs& runs) {
            return kernel.on_runs(grid, rule, runs);
          },
          [kernel, grid, rule = scale.rule()](const kernels::Strip& strip) {
            return kernel.on_columns(grid, rule, strip);
          },
          elements.seed()};
}

// Exponents as two's complement codes of `bits` bits, the shared codes of block_minifloat and
// block_log.
int clamp_signed(int exponent, int bits);
std::uint32_t signed_code(int exponent, int bits);
int signed_value(std::uint32_t code, int bits);
/// The highest exponent of a tile of float32 numbers: within the code's range, and at most 128.
int highest_block_exponent(int bits);

/// Fake quantization, profile `exact`, by the definition.
void quantize_block_scalar(const BlockElements& elements, const Tiling& tiling,
                           std::span<const float> in, std::span<float> out);
/// The same by the fastest kernel, or by the definition when there is no kernel.
void quantize_block(const BlockElements& elements, const Tiling& tiling, std::span<const float> in,
                    std::span<float> out);
/// The same by a kernel for GPUs; null without one.
DeviceQuantizer block_on_device(const BlockElements& elements, const Tiling& tiling);
/// Fake quantization in profile `reference`, by the definition and by kernels. With `adds_zero`,
/// tiles are put back by adding to +0.
void quantize_block_reference_scalar(const BlockElements& elements, const Tiling& tiling,
                                     bool adds_zero, std::span<const float> in,
                                     std::span<float> out);
void quantize_block_reference(const BlockElements& elements, const Tiling& tiling, bool adds_zero,
                              std::span<const float> in, std::span<float> out,
                              simd::Isa isa = simd::best_isa());

/// The codes of all elements and shared codes of all tiles. Error(Fault::file) names the index of
/// the first NaN.
Encoded encode_block(const BlockElements& elements, const Tiling& tiling,
                     std::span<const float> in);
/// Decodes; Error(Fault::file) when the number or width of codes does not fit the format and `out`.
void decode_block(const BlockElements& elements, const Tiling& tiling, const Encoded& in,
                  std::span<float> out);

/// Elements times powers; nullopt when one of the codes has more than widest_element_table bits.
std::optional<Decoding> block_decoding(const BlockElements& elements, const Tiling& tiling);

/// mask[i] = 1 when |in[i]| is above the largest magnitude that its tile can represent.
void block_saturation(const BlockElements& elements, const Tiling& tiling, Profile profile,
                      std::span<const float> in, std::span<std::uint8_t> mask);

}  // namespace mase::formats
