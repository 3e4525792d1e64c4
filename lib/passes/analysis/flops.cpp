// SPDX-License-Identifier: Apache-2.0
// A table with a row per node, and their sum.
#include "passes/analysis/flops.hpp"

#include "base/text.hpp"
#include "ir/op_table.hpp"
#include "passes/analysis/operations.hpp"

namespace mase::passes {
namespace {

double backward(const OperationCounts& counts) {
  return counts.macs > 0 ? 2 * counts.flops : counts.flops;
}

std::vector<std::string> row_of(const std::string& name, const std::string& op,
                                const OperationCounts& counts, double backward_flops) {
  std::vector<std::string> row{name, op};
  for (const double count : {counts.parameters, counts.macs, counts.flops, backward_flops,
                             counts.inputs, counts.outputs})
    row.push_back(fixed_text(count, 0));
  return row;
}

void record(Tree& entry, const OperationCounts& counts, double backward_flops) {
  entry["total_parameters"] = count_tree(counts.parameters);
  entry["macs"] = count_tree(counts.macs);
  entry["computations"] = count_tree(counts.flops);
  entry["backward_computations"] = count_tree(backward_flops);
}

}  // namespace

Result Flops::run(ir::Graph& graph, const Options&, PassContext&) {
  OperationCounter counter(graph);
  OperationCounts total;
  double total_backward = 0;
  ReportTable table{"FLOPs of one sample",
                    {"Node", "Op", "Parameters", "MACs", "FLOPs", "Backward", "Read", "Written"},
                    {},
                    "flops.csv"};
  Result result;
  Tree nodes = Tree::list();
  for (ir::NodeId id : graph.order()) {
    const ir::Node& node = graph.node(id);
    const OperationCounts counts = counter.count(node);
    if (counts.flops == 0 && counts.parameters == 0) continue;
    total.add(counts);
    total_backward += backward(counts);
    const std::string op = ir::classify(graph, node).op;
    table.rows.push_back(row_of(node.name, op, counts, backward(counts)));
    Tree entry = Tree::dict();
    entry["name"] = node.name;
    entry["op"] = op;
    record(entry, counts, backward(counts));
    entry["input_buffer_size"] = count_tree(counts.inputs);
    entry["output_buffer_size"] = count_tree(counts.outputs);
    nodes.push_back(std::move(entry));
  }
  total.parameters = counter.total_parameters();
  table.rows.push_back(row_of("total", "", total, total_backward));
  record(result.info, total, total_backward);
  result.info["batch"] = counter.batch();
  result.info["nodes"] = std::move(nodes);
  if (!counter.uncounted().empty())
    result.notes.push_back("operations not counted: " + join(counter.uncounted(), ", "));
  result.tables.push_back(std::move(table));
  return result;
}

}  // namespace mase::passes
