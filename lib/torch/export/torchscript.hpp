// SPDX-License-Identifier: Apache-2.0
// Exports a graph as a TorchScript archive that stock PyTorch opens without custom operators.
#pragma once

#include <map>
#include <string>

#include "ir/graph.hpp"

namespace mase::libtorch {

/// Writes a TorchScript module with the graph's paths, parameters and buffers (same state_dict) to
/// `path`, atomically, with `extra_files` inside. Stock operators quantize ports with a format:
/// exactly to the format's values in eval mode, straight-through in training mode. The bytes of the
/// file depend only on the graph and the extra files.
/// Error(Fault::unsupported) that names the node for what TorchScript cannot express.
void export_torchscript(const ir::Graph& graph, const std::string& path,
                        const std::map<std::string, std::string>& extra_files);

}  // namespace mase::libtorch
