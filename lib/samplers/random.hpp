// Uniform draws from a space.
#pragma once

#include "base/random.hpp"
#include "samplers/space.hpp"

namespace mase::samplers {

/// Uniform values (samplers/unit.hpp) of the active dimensions, drawn in the order of the space.
Params random_params(const Space& space, Random& random);

}  // namespace mase::samplers
