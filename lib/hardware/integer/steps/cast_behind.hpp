// SPDX-License-Identifier: Apache-2.0
// CastBehind: how a step saves the cast that requantises its result.
#pragma once

namespace mase::integer {

/// What becomes of a cast behind a step whose result nothing else reads.
enum class CastBehind {
  merges,  ///< into the requantisation of the step, where one requantisation does both
  enters,  ///< the step's table, by take_cast(), where takes_casts() says so
  passes,  ///< in front of the step, which only moves; take_cast() does it to codes of its own
  stays    ///< where it is: the step has no requantisation
};

}  // namespace mase::integer
