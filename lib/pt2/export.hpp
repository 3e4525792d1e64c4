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
  bool any_batch = false;           ///< dimension 0 of the inputs may have any size
  std::vector<std::string> losses;  ///< a line for each format that was left out
};

/// Writes a graph in eval mode, as torch.export.save does (torch 2.8 and later).
/// The first dimension of the inputs is free if the graph takes other batches than its example's.
/// Layers are in the metadata of their operators, from which import_program makes the same nodes
/// again. Formats of ports are the operators of their quantizers, and tensors have rounded values.
/// Error(Fault::unsupported) that names every node without a counterpart, or every format;
/// `allow_loss` leaves such formats out.
ExportNotes export_program(const ir::Graph& graph, const std::string& path, bool allow_loss);

}  // namespace mase::pt2
