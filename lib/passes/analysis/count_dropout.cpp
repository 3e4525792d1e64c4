// SPDX-License-Identifier: Apache-2.0
// Counts dropout in one loop over the nodes; the op table says which nodes are dropout.
#include "passes/analysis/count_dropout.hpp"

#include "ir/op_table.hpp"

namespace mase::passes {

Result CountDropout::run(ir::Graph& graph, const Options&, PassContext&) {
  Tree names = Tree::list();
  for (ir::NodeId id : graph.order())
    if (ir::classify(graph, graph.node(id)).op == "dropout") names.push_back(graph.node(id).name);
  Result result;
  result.text.push_back("Dropout count is " + std::to_string(names.size()));
  result.info["count"] = names.size();
  result.info["nodes"] = std::move(names);
  return result;
}

}  // namespace mase::passes
