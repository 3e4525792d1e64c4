// SPDX-License-Identifier: Apache-2.0
// A dropout in eval mode is the identity, so its users can take its input instead.
#include "passes/transform/remove_dropout.hpp"

#include "ir/op_table.hpp"

namespace mase::passes {

Result RemoveDropout::run(ir::Graph& graph, const Options&, PassContext&) {
  Result result;
  Tree removed = Tree::list();
  const std::vector<ir::NodeId> order = graph.order();
  for (ir::NodeId id : order) {
    if (ir::classify(graph, graph.node(id)).op != "dropout") continue;
    removed.push_back(graph.node(id).name);
    graph.replace_uses(id, graph.inputs(id).front());
    graph.erase(id);
  }
  ir::remove_unused_tensors(graph);
  result.changed = removed.size() > 0;
  result.info["removed"] = std::move(removed);
  return result;
}

}  // namespace mase::passes
