// SPDX-License-Identifier: Apache-2.0
// The elements of block_log: signed powers of two whose bias is shared by a tile (formats.md,
// sections 3 and 4).
#pragma once

#include "formats/block/block_elements.hpp"
#include "formats/minifloat/log_scalar.hpp"

namespace mase::formats {

/// All parameters of block_log except the blocks' shape.
struct BlockLogSpec {
  int width = 8;
  int exponent_bias_width = 8;
  Rounding rounding = Rounding::nearest_even;
  Seed seed{};

  /// The powers of two up to this exponent.
  LogSpec element(int top_exponent, Profile profile = Profile::exact) const;
};

/// Elements of block_log. A tile's exponent is the exponent of its largest values.
class BlockLogElements final : public BlockElements {
 public:
  explicit BlockLogElements(const BlockLogSpec& spec) : spec_(spec) {}

  std::string_view name() const override { return "block_log"; }
  Seed seed() const { return spec_.seed; }
  int element_bits() const override { return spec_.width; }
  int shared_bits() const override { return spec_.exponent_bias_width; }
  int exponent(const TilePeak& peak) const override;
  TileScale tile_scale() const override;
  int highest_exponent() const override;
  std::uint32_t shared_code(int exponent) const override;
  int exponent_of_code(std::uint32_t shared_code) const override;
  double largest(int exponent) const override;
  double quantize(double x, int exponent, std::uint64_t index) const override;
  std::uint32_t code(double value, int exponent) const override;
  double value(std::uint32_t code, int exponent) const override;
  int reference_exponent(float p) const override;
  float reference_zeta(int exponent) const;
  void fill_reference(int exponent, std::size_t tile, kernels::TileFactors& factors) const override;
  float quantize_reference(float x, int exponent, bool adds_zero) const override;
  ReferenceBlock reference_kernel(simd::Isa isa) const override;
  DeviceQuantizer on_device(const kernels::DeviceTiles& tiles) const override;
  std::optional<BlockKernel> kernel(simd::Isa isa) const override;
  std::optional<BlockKernel> code_kernel(simd::Isa isa) const override;

 private:
  BlockLogSpec spec_;
};

}  // namespace mase::formats
