// SPDX-License-Identifier: Apache-2.0
// Resolving the parameters of block_fp.
#include "formats/block/block_fp.hpp"

namespace mase::formats {

void BlockFp::resolve(const Tree& given, Diagnostics& diagnostics) {
  if (!exponent_bias) exponent_bias = (1 << (exponent_width - 1)) - 1;
  check_block_fields(given, diagnostics);
}

BlockFpSpec BlockFp::spec() const {
  return {width,
          exponent_width,
          exponent_bias.value_or((1 << (exponent_width - 1)) - 1),
          scale_rule_of(scale_rule),
          rounding_value(),
          seed_value()};
}

FormatRow block_fp_row() { return format_row<BlockFp>(); }

}  // namespace mase::formats
