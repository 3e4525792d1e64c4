// SPDX-License-Identifier: Apache-2.0
// The elements of block_fp: sign and magnitude integers under an exponent per tile (formats.md,
// sections 3 and 4).
#pragma once

#include "formats/block/block_elements.hpp"
#include "formats/rounding.hpp"
#include "formats/scale_rule.hpp"
#include "formats/seed.hpp"

namespace mase::formats {

/// All parameters of block_fp except the blocks' shape, resolved.
struct BlockFpSpec {
  int width = 8;
  int exponent_width = 8;
  int exponent_bias = 127;
  ScaleRule scale_rule = ScaleRule::floor;
  Rounding rounding = Rounding::nearest_even;
  Seed seed{};

  int fraction_bits() const { return width - 1; }  ///< bits of a magnitude, which is below 1
  int lowest_exponent() const { return -exponent_bias; }
  int highest_exponent() const { return (1 << exponent_width) - 1 - exponent_bias; }
  double largest_magnitude() const;  ///< 2^(width - 1) - 1, as an integer
  ElementTop top() const;
};

/// Values +-M * 2^(E - (width - 1)), where E is the tile's exponent.
class BlockFpElements final : public BlockElements {
 public:
  explicit BlockFpElements(const BlockFpSpec& spec) : spec_(spec) {}

  std::string_view name() const override { return "block_fp"; }
  Seed seed() const { return spec_.seed; }
  int element_bits() const override { return spec_.width; }
  int shared_bits() const override { return spec_.exponent_width; }
  int exponent(const TilePeak& peak) const override;
  TileScale tile_scale() const override;
  int highest_exponent() const override { return spec_.highest_exponent(); }
  std::uint32_t shared_code(int exponent) const override;
  int exponent_of_code(std::uint32_t shared_code) const override;
  double largest(int exponent) const override;
  double quantize(double x, int exponent, std::uint64_t index) const override;
  std::uint32_t code(double value, int exponent) const override;
  double value(std::uint32_t code, int exponent) const override;
  int reference_exponent(float p) const override;
  void fill_reference(int exponent, std::size_t tile, kernels::TileFactors& factors) const override;
  float quantize_reference(float x, int exponent, bool adds_zero) const override;
  ReferenceBlock reference_kernel(simd::Isa isa) const override;
  DeviceQuantizer on_device(const kernels::DeviceTiles& tiles) const override;
  std::optional<BlockKernel> kernel(simd::Isa isa) const override;
  std::optional<BlockKernel> code_kernel(simd::Isa isa) const override;

 private:
  BlockFpSpec spec_;
};

}  // namespace mase::formats
