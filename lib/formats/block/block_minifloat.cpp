// SPDX-License-Identifier: Apache-2.0
// Resolving the parameters of block_minifloat.
#include "formats/block/block_minifloat.hpp"

namespace mase::formats {

void BlockMinifloat::resolve(const Tree& given, Diagnostics& diagnostics) {
  if (exponent_width > width - 1)
    diagnostics.error(place_of(given, "exponent_width"),
                      std::to_string(exponent_width) +
                          " bits of exponent and a sign do not fit in " + std::to_string(width) +
                          " bits");
  check_block_fields(given, diagnostics);
}

BlockMinifloatSpec BlockMinifloat::spec() const {
  return {
      width,       exponent_width, exponent_bias_width, scale_rule_of(scale_rule), rounding_value(),
      seed_value()};
}

FormatRow block_minifloat_row() { return format_row<BlockMinifloat>(); }

}  // namespace mase::formats
