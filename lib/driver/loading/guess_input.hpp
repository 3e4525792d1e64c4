// SPDX-License-Identifier: Apache-2.0
// Guesses the shape of an example input from the weights of a model when the user gave none.
#pragma once

#include <vector>

#include "backend/backend.hpp"
#include "base/array.hpp"

namespace mase::driver {

/// Returns shapes that the only input of a model may have, most likely first. They follow from the
/// parameters in state_dict order: an image for a first convolution; for a first linear or batch
/// norm, rows of its width, single or as a sequence. Returns nothing for several inputs.
std::vector<Shape> candidate_inputs(const backend::Signature& signature);

}  // namespace mase::driver
