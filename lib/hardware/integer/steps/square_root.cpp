// SPDX-License-Identifier: Apache-2.0
// Square roots, digit by digit.
#include "hardware/integer/steps/square_root.hpp"

namespace mase::integer {

// Digit by digit: bits of the root from the highest on, each kept where its square still fits.
Wide SquareRoot::operator()(Wide x) const {
  Wide rest = (x << shift) + addend, root = 0;
  int digit = signed_width(0, rest) / 2;
  for (; digit >= 0; --digit) {
    const Wide taken = (root << (digit + 1)) + (Wide{1} << (2 * digit));
    if (taken > rest) continue;
    rest -= taken;
    root += Wide{1} << digit;
  }
  return root;
}

}  // namespace mase::integer
