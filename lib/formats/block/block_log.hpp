// SPDX-License-Identifier: Apache-2.0
// The format block_log: powers of two whose bias is shared by a block (formats.md, section 3).
#pragma once

#include "formats/block/block_bodies.hpp"
#include "formats/definition.hpp"

namespace mase::formats {

/// Sign and `width - 1` bits of exponent per element, `exponent_bias_width` bits per block.
struct BlockLog : BlockFields, BlockFunctions<BlockLog> {
  static constexpr FormatDoc doc{
      "block_log", "Signed powers of two whose exponent bias is shared by a block.", 2};
  static constexpr bool default_skip = false;
  int width = 8;
  int exponent_bias_width = 8;

  static constexpr auto fields() {
    return std::tuple_cat(
        std::tuple{Field{"width", &BlockLog::width, "bits of an element"}.between(2, 16),
                   Field{"exponent_bias_width", &BlockLog::exponent_bias_width,
                         "bits of a block's exponent"}
                       .between(1, 16)},
        block_fields(), common_fields());
  }
  void resolve(const Tree& given, Diagnostics& diagnostics) override;
  BlockLogSpec spec() const;
  BlockLogElements elements() const { return BlockLogElements(spec()); }
  std::string torchscript(int rank) const override {
    return block_log_torchscript(*this, spec(), default_skip, rank);
  }
};

}  // namespace mase::formats
