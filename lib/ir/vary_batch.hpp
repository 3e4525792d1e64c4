// SPDX-License-Identifier: Apache-2.0
// Graphs that were written for one batch, for any other one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph.hpp"

namespace mase::ir {

/// Why a graph cannot take another batch.
struct BatchObstacle {
  NodeId node = no_node;
  std::string reason;  ///< "it computes with several rows at once"
};

/// Gives the batch, which is dimension 0 of `inputs` and the same size in all of them, the size
/// `batch`, and makes every constant size vary that is the batch. The rows of each result are then
/// those that the graph gave before: every node is shown to compute a row from the same row of its
/// operands, in the order of their elements. `others_vary` says that other sizes than the batch may
/// be others in a later run. After an obstacle the graph is no longer sound.
std::optional<BatchObstacle> vary_batch(Graph& graph, const std::vector<NodeId>& inputs,
                                        std::int64_t batch, bool others_vary);

}  // namespace mase::ir
