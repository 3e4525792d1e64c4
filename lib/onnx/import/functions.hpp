// SPDX-License-Identifier: Apache-2.0
// Bodies of a model's own operators.
#pragma once

#include <string>
#include <vector>

#include "onnx/model.hpp"

namespace mase::onnx {

/// The nodes of a function in the place of a call: its inputs and outputs have the names of the
/// call's, its inner values begin with `prefix`, and its attributes have the call's values.
std::vector<Node> body_of(const Function& function, const Node& call, const std::string& prefix);

}  // namespace mase::onnx
