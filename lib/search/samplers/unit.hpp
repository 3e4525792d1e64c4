// SPDX-License-Identifier: Apache-2.0
// Maps the unit interval to the values of a distribution, and back.
#pragma once

#include "search/samplers/distribution.hpp"

namespace mase::samplers {

/// The value at a share of [0, 1): uniform, or uniform in the logarithm. Countable values have
/// equal cells each (for an int with `log`: from value - 0.5 to value + 0.5, in the logarithm).
double value_at_share(const Distribution& distribution, double share);

/// The share of a value: its place for a float without step, otherwise the middle of its cell.
double share_of(const Distribution& distribution, double value);

}  // namespace mase::samplers
