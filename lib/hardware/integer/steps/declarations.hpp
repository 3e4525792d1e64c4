// SPDX-License-Identifier: Apache-2.0
// What a step needs to declare itself; step_operation.hpp says what it declares.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/integer/fixed.hpp"
#include "hardware/integer/program/bounds.hpp"
#include "hardware/integer/program/codes.hpp"
#include "hardware/integer/steps/constants.hpp"
#include "hardware/integer/steps/frame.hpp"

namespace mase::integer {

/// What becomes of a cast behind a step whose result nothing else reads.
enum class CastBehind {
  merges,  ///< into the requantisation of the step, where one requantisation does both
  enters,  ///< the step's table, by take_cast(), where takes_casts() says so
  passes,  ///< in front of the step, which only moves; take_cast() does it to codes of its own
  stays    ///< where it is: the step has no requantisation
};

/// How closely a step computes a function that it approximates.
struct Approximation {
  std::int64_t pieces = 0;
  double largest_error = 0;  ///< in units of the last place of the result
};

}  // namespace mase::integer
