// SPDX-License-Identifier: Apache-2.0
// Export of a graph as a TorchScript archive that stock PyTorch opens without custom operators.
#pragma once

#include <map>
#include <string>

#include "ir/graph.hpp"

namespace mase::libtorch {

/// Writes a TorchScript module with the graph's paths, parameters and buffers (same state_dict) to
/// `path`, atomically, with `extra_files` inside. Ports with a format are quantized by stock
/// operators: in eval mode exactly the format's bits, in training mode straight-through. The bytes
/// depend on the graph and the extra files only.
/// Error(Fault::unsupported) for an operator or value that TorchScript cannot say, naming the node.
void export_torchscript(const ir::Graph& graph, const std::string& path,
                        const std::map<std::string, std::string>& extra_files);

}  // namespace mase::libtorch
