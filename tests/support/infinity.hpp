// SPDX-License-Identifier: Apache-2.0
// Infinity by its name, for tests of limits, losses and bounds.
#pragma once

#include <limits>

namespace mase::test {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace mase::test
