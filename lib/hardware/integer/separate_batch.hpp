// SPDX-License-Identifier: Apache-2.0
// Dimensions that a model joins with its batch, taken apart again.
#pragma once

#include <map>
#include <string>

#include "ir/graph.hpp"

namespace mase::integer {

struct Separated {
  ir::Graph graph;
  std::map<ir::NodeId, std::string> refused;  ///< why nodes read no joined dimension
};

/// The graph with shapes [batch, k, ...] in the place of [batch * k, ...], which views make of
/// windows, words or heads so that layers treat each by itself. The batch is the slowest dimension
/// of what such a view reads, so that only the numbers of the dimensions behind it change, in
/// arguments and results; sizes that views ask for stay as they are. What ops do is the same.
Separated separate_batch(const ir::Graph& graph);

}  // namespace mase::integer
