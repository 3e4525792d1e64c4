// SPDX-License-Identifier: Apache-2.0
// Division that rounds down, as Python's does.
#pragma once

namespace mase::integer {

/// floor(a / b) of whole numbers of one type; b is not 0.
template <class Number>
Number floor_divide(Number a, Number b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

}  // namespace mase::integer
