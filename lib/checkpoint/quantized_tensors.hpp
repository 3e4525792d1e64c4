// SPDX-License-Identifier: Apache-2.0
// Finds the tensors of a graph that are read through a format.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.hpp"

namespace mase::checkpoint {

/// A parameter or buffer that a node reads through a port with a format.
struct QuantizedTensor {
  std::string node, port, path;
  formats::Format format;
};

/// The quantized tensors in the order of the nodes and their ports. A tensor that several ports
/// read occurs several times.
std::vector<QuantizedTensor> quantized_tensors(const ir::Graph& graph);

}  // namespace mase::checkpoint
