// SPDX-License-Identifier: Apache-2.0
// Draws uniformly from a space.
#pragma once

#include "base/random.hpp"
#include "search/samplers/space.hpp"

namespace mase::samplers {

/// Draws uniform values (search/samplers/unit.hpp) for the active dimensions, in the order of the
/// space.
Params random_params(const Space& space, Random& random);

}  // namespace mase::samplers
