// SPDX-License-Identifier: Apache-2.0
// Graphs of ATen operators as exported programs of PyTorch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/graph.hpp"

namespace mase::pt2 {

/// A size that the program takes other values of: dimensions of inputs that have it in common.
struct FreeSize {
  std::string symbol;
  std::vector<std::pair<std::string, std::size_t>> places;  ///< the input's name, and a dimension
  std::int64_t least = 1;
  std::optional<std::int64_t> most;  ///< nullopt: any
};

/// What an exported program says of its graph.
struct ExportNotes {
  std::size_t nodes = 0, tensors = 0;
  std::vector<FreeSize> free_sizes;
  std::vector<std::string> losses;  ///< a line for each format that was left out
};

/// Writes a graph in eval mode, as torch.export.save does (torch 2.8 and later).
/// A dimension of the inputs is free if the graph takes other sizes than its example's, and if all
/// sizes that depend on it are sums of floors of it, or products with those of other dimensions.
/// Layers are in the metadata of their operators, from which import_program makes the same nodes
/// again. Formats of ports are the operators of their quantizers, and tensors have rounded values.
/// Error(Fault::unsupported) that names every node without a counterpart, or every format;
/// `allow_loss` leaves such formats out.
ExportNotes export_program(const ir::Graph& graph, const std::string& path, bool allow_loss);

}  // namespace mase::pt2
