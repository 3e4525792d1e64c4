// SPDX-License-Identifier: Apache-2.0
// Example inputs for a model file when the user gave none: candidates from the weights' shapes.
#pragma once

#include <vector>

#include "backend/backend.hpp"
#include "base/array.hpp"

namespace mase::driver {

/// Shapes that the only input of a model may have, most likely first, from its parameters in
/// state_dict order: an image for the first convolution, rows of the width that the first linear or
/// batch norm takes, alone or as a sequence. Empty for several inputs: nothing tells their shapes.
std::vector<Shape> candidate_inputs(const backend::Signature& signature);

}  // namespace mase::driver
