// SPDX-License-Identifier: Apache-2.0
// The format block_fp: block floating point, integers that share an exponent (formats.md, section
// 3).
#pragma once

#include "formats/block/block_bodies.hpp"
#include "formats/definition.hpp"

namespace mase::formats {

/// Sign and `width - 1` bits of magnitude per element, `exponent_width` bits per block.
struct BlockFp : BlockFields, BlockFunctions<BlockFp> {
  static constexpr FormatDoc doc{
      "block_fp", "Block floating point: sign and magnitude under a shared exponent.", 3};
  static constexpr bool default_skip = true;
  static constexpr std::string_view calibrated = "scale_rule";
  int width = 8;
  int exponent_width = 8;
  std::optional<int> exponent_bias;
  std::string scale_rule = "floor";

  static constexpr auto fields() {
    return std::tuple_cat(
        std::tuple{
            Field{"width", &BlockFp::width, "bits of an element"}.between(2, 32),
            Field{"exponent_width", &BlockFp::exponent_width, "bits of a block's exponent"}.between(
                1, 8),
            Field{"exponent_bias", &BlockFp::exponent_bias,
                  "exponent code minus exponent; NA: 2^(exponent_width-1)-1"}
                .between(-512, 512)},
        block_fields(), std::tuple{scale_rule_field(&BlockFp::scale_rule)}, common_fields());
  }
  void resolve(const Tree& given, Diagnostics& diagnostics) override;
  BlockFpSpec spec() const;
  BlockFpElements elements() const { return BlockFpElements(spec()); }
  std::string torchscript(int rank) const override {
    return block_fp_torchscript(*this, spec(), default_skip, rank);
  }
};

}  // namespace mase::formats
