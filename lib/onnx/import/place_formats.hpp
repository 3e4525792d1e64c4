// SPDX-License-Identifier: Apache-2.0
// The formats of a quantized model on the ports where pass quantize would put them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/graph.hpp"

namespace mase::onnx {

/// Formats that may hold a tensor, by the tensor's path.
using FormatsOfTensors = std::map<std::string, std::vector<formats::Format>>;

/// Gives every port that reads a quantized tensor the first format that leaves the tensor as it is,
/// and takes out the nodes that do nothing but round: their format goes to the ports that read
/// them, or to their source. Returns notes: which tensors no format
/// holds.
std::vector<std::string> place_formats(ir::Graph& graph, const FormatsOfTensors& formats);

}  // namespace mase::onnx
