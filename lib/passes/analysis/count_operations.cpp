// SPDX-License-Identifier: Apache-2.0
// The counts of every node as a table and as info.
#include "passes/analysis/count_operations.hpp"

#include "base/text.hpp"
#include "ir/op_table.hpp"
#include "passes/analysis/operations.hpp"

namespace mase::passes {
namespace {

Tree record(const OperationCounts& counts) {
  Tree tree = Tree::dict();
  tree["parameters"] = count_tree(counts.parameters);
  tree["macs"] = count_tree(counts.macs);
  tree["flops"] = count_tree(counts.flops);
  tree["bitops"] = count_tree(counts.bitops);
  return tree;
}

std::vector<std::string> table_row(const std::string& name, const std::string& op,
                                   const OperationCounts& counts) {
  std::vector<std::string> row{name, op};
  for (double count : {counts.parameters, counts.macs, counts.flops, counts.bitops})
    row.push_back(fixed_text(count, 0));
  return row;
}

}  // namespace

Result CountOperations::run(ir::Graph& graph, const Options&, PassContext&) {
  OperationCounter counter(graph);
  OperationCounts total;
  ReportTable table{
      "Operations of one sample", {"Node", "Op", "Parameters", "MACs", "FLOPs", "BitOPs"}, {}, ""};
  Tree nodes = Tree::list();
  for (ir::NodeId id : graph.order()) {
    const ir::Node& node = graph.node(id);
    const OperationCounts counts = counter.count(node);
    total.add(counts);
    if (counts.parameters == 0 && counts.flops == 0) continue;
    const std::string op = ir::classify(graph, node).op;
    Tree entry = Tree::dict();
    entry["name"] = node.name;
    entry["op"] = op;
    const Tree counted = record(counts);
    for (const auto& [key, value] : counted.as_dict()) entry[key] = value;
    nodes.push_back(std::move(entry));
    table.rows.push_back(table_row(node.name, op, counts));
  }
  total.parameters = counter.total_parameters();
  table.rows.push_back(table_row("total", "", total));
  Result result;
  result.info = record(total);
  result.info["batch"] = counter.batch();
  result.info["nodes"] = std::move(nodes);
  if (!counter.uncounted().empty())
    result.notes.push_back("operations not counted: " + join(counter.uncounted(), ", "));
  result.tables.push_back(std::move(table));
  return result;
}

}  // namespace mase::passes
