// SPDX-License-Identifier: Apache-2.0
// Graphs of ATen operators as exported programs of PyTorch.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ir/graph.hpp"

namespace mase::pt2 {

/// What an exported program says of its graph.
struct ExportNotes {
  std::size_t nodes = 0, tensors = 0;
  bool any_batch = false;  ///< dimension 0 of the inputs may have any size
};

/// Writes a graph without formats, in eval mode, as torch.export.save does (torch 2.8 and later).
/// The first dimension of the inputs is free if the graph takes other batches than its example's.
/// Layers are in the metadata of their operators, from which import_program makes the same nodes
/// again. Error(Fault::unsupported) that names every node without a counterpart.
ExportNotes export_program(const ir::Graph& graph, const std::string& path);

}  // namespace mase::pt2
