// SPDX-License-Identifier: Apache-2.0
// Resolving the parameters of block_log.
#include "formats/block/block_log.hpp"

namespace mase::formats {

void BlockLog::resolve(const Tree& given, Diagnostics& diagnostics) {
  check_block_fields(given, diagnostics);
}

BlockLogSpec BlockLog::spec() const {
  return {width, exponent_bias_width, rounding_value(), seed_value()};
}

FormatRow block_log_row() { return format_row<BlockLog>(); }

}  // namespace mase::formats
