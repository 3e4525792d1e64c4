// SPDX-License-Identifier: Apache-2.0
// A table with a row per node that has multiply-accumulates, and their sum.
#include "passes/analysis/bitops.hpp"

#include "base/text.hpp"
#include "ir/op_table.hpp"
#include "passes/analysis/operations.hpp"

namespace mase::passes {
namespace {

constexpr double float_bits = 32;

Tree entry_of(const std::string& name, const std::string& op, const OperationCounts& counts) {
  Tree entry = Tree::dict();
  entry["name"] = name;
  entry["op"] = op;
  entry["macs"] = count_tree(counts.macs);
  entry["weight_bits"] = count_tree(counts.weight_bits);
  entry["activation_bits"] = count_tree(counts.activation_bits);
  entry["bitops"] = count_tree(counts.bitops);
  return entry;
}

}  // namespace

Result Bitops::run(ir::Graph& graph, const Options&, PassContext&) {
  OperationCounter counter(graph);
  OperationCounts total;
  ReportTable table{"BitOPs of one sample",
                    {"Node", "Op", "MACs", "Weight bits", "Activation bits", "BitOPs"},
                    {},
                    "bitops.csv"};
  Tree nodes = Tree::list();
  for (ir::NodeId id : graph.order()) {
    const ir::Node& node = graph.node(id);
    const OperationCounts counts = counter.count(node);
    if (counts.macs == 0) continue;
    total.add(counts);
    const std::string op = ir::classify(graph, node).op;
    nodes.push_back(entry_of(node.name, op, counts));
    table.rows.push_back({node.name, op, fixed_text(counts.macs, 0),
                          fixed_text(counts.weight_bits, 3), fixed_text(counts.activation_bits, 3),
                          fixed_text(counts.bitops, 0)});
  }
  table.rows.push_back(
      {"total", "", fixed_text(total.macs, 0), "", "", fixed_text(total.bitops, 0)});
  Result result;
  result.info["macs"] = count_tree(total.macs);
  result.info["bitops"] = count_tree(total.bitops);
  result.info["float_bitops"] = count_tree(total.macs * float_bits * float_bits);
  result.info["batch"] = counter.batch();
  result.info["nodes"] = std::move(nodes);
  if (!counter.uncounted().empty())
    result.notes.push_back("operations not counted: " + join(counter.uncounted(), ", "));
  result.tables.push_back(std::move(table));
  return result;
}

}  // namespace mase::passes
