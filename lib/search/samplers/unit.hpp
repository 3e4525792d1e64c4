// SPDX-License-Identifier: Apache-2.0
// The unit interval behind a distribution: what a uniform number means as a value, and back.
#pragma once

#include "search/samplers/distribution.hpp"

namespace mase::samplers {

/// The value at a share of [0, 1): uniform, or uniform in the logarithm; countable values take
/// equal cells each (an int with `log` the cell from value - 0.5 to value + 0.5 in the logarithm).
double value_at_share(const Distribution& distribution, double share);

/// A share that has this value: its place for a float without step, else the middle of its cell.
double share_of(const Distribution& distribution, double value);

}  // namespace mase::samplers
