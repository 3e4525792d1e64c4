// SPDX-License-Identifier: Apache-2.0
// The batch in front of every tensor, and dimensions that a model joins with it taken apart again.
#pragma once

#include <map>
#include <string>

#include "ir/graph.hpp"

namespace mase::integer {

struct Separated {
  ir::Graph graph;
  std::map<ir::NodeId, std::string> refused;  ///< why nodes read no joined dimension
  /// The sizes that the model asks for of tensors with other shapes here; none for the batch.
  std::map<ir::NodeId, ir::Value> sizes;
};

/// The graph with shapes [batch, ...] in the place of [..., batch, ...], as models have them that
/// take steps first, and [batch, k, ...] in the place of [batch * k, ...], which views make of
/// windows, words or heads so that layers treat each by itself. Dimensions in arguments and results
/// get other numbers; sizes that views ask for stay as they are. What ops do is the same.
Separated separate_batch(const ir::Graph& graph);

}  // namespace mase::integer
