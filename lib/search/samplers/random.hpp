// SPDX-License-Identifier: Apache-2.0
// Uniform draws from a space.
#pragma once

#include "base/random.hpp"
#include "search/samplers/space.hpp"

namespace mase::samplers {

/// Uniform values (search/samplers/unit.hpp) of the active dimensions, drawn in the order of the
/// space.
Params random_params(const Space& space, Random& random);

}  // namespace mase::samplers
