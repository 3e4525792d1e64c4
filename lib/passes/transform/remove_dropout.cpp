// SPDX-License-Identifier: Apache-2.0
// A dropout in eval mode is the identity, so its users can take its input instead.
#include "passes/transform/remove_dropout.hpp"

#include "ir/op_table.hpp"
#include "ir/train_mode.hpp"

namespace mase::passes {

bool RemoveDropout::prepares(const ir::Graph& graph) { return ir::draws_always(graph); }

Result RemoveDropout::run(ir::Graph& graph, const Options&, PassContext& context) {
  Result result;
  Tree removed = Tree::list(), stopped = Tree::list();
  const bool was_random = ir::draws_always(graph);
  const std::vector<ir::NodeId> order = graph.order();
  for (ir::NodeId id : order) {
    if (ir::classify(graph, graph.node(id)).op != "dropout") continue;
    removed.push_back(graph.node(id).name);
    graph.replace_uses(id, graph.inputs(id).front());
    graph.erase(id);
  }
  for (const std::string& name : ir::stop_drawing(graph)) stopped.push_back(name);
  ir::remove_unused_tensors(graph);
  result.changed = removed.size() + stopped.size() > 0;
  result.info["removed"] = std::move(removed);
  if (was_random) {  // quantization is compared with the model that does not draw
    context.start_again(graph, context.probe);
    result.info["stopped"] = std::move(stopped);
  }
  return result;
}

}  // namespace mase::passes
