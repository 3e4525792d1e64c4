// Uniform draws from distributions and spaces.
#pragma once

#include "base/random.hpp"
#include "samplers/space.hpp"

namespace mase::samplers {

/// Each value equally likely; with `log` in the logarithm (an integer then has the width of
/// [value - 1/2, value + 1/2]).
double random_value(const Distribution& distribution, Random& random);

/// A value for every active dimension, drawn in the order of the space.
Params random_params(const Space& space, Random& random);

}  // namespace mase::samplers
