// SPDX-License-Identifier: Apache-2.0
// The format block_minifloat: minifloats whose bias is shared by a block (formats.md, section 3).
#pragma once

#include "formats/block/block_bodies.hpp"
#include "formats/definition.hpp"

namespace mase::formats {

/// A minifloat per element, `exponent_bias_width` bits per block.
struct BlockMinifloat : BlockFields, BlockFunctions<BlockMinifloat> {
  static constexpr FormatDoc doc{"block_minifloat",
                                 "Minifloats whose exponent bias is shared by a block.", 3};
  static constexpr bool default_skip = false;
  static constexpr std::string_view calibrated = "scale_rule";
  int width = 8;
  int exponent_width = 4;
  int exponent_bias_width = 8;
  std::string scale_rule = "floor";

  static constexpr auto fields() {
    return std::tuple_cat(
        std::tuple{Field{"width", &BlockMinifloat::width, "bits of an element"}.between(2, 16),
                   Field{"exponent_width", &BlockMinifloat::exponent_width,
                         "bits of an element's exponent"}
                       .between(1, 8),
                   Field{"exponent_bias_width", &BlockMinifloat::exponent_bias_width,
                         "bits of a block's exponent"}
                       .between(1, 16)},
        block_fields(), std::tuple{scale_rule_field(&BlockMinifloat::scale_rule)}, common_fields());
  }
  void resolve(const Tree& given, Diagnostics& diagnostics) override;
  BlockMinifloatSpec spec() const;
  BlockMinifloatElements elements() const { return BlockMinifloatElements(spec()); }
  std::string torchscript(int rank) const override {
    return block_minifloat_torchscript(*this, spec(), default_skip, rank);
  }
};

}  // namespace mase::formats
