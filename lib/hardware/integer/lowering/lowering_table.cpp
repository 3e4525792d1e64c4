// SPDX-License-Identifier: Apache-2.0
// The rows of all families, and which one of them a node has.
#include "hardware/integer/lowering/lowering_table.hpp"

#include <algorithm>

#include "hardware/integer/datapath.hpp"
#include "hardware/integer/lowering/custom.hpp"
#include "ir/custom_op.hpp"
#include "ir/op_table.hpp"

namespace mase::integer {
namespace {

const std::vector<LoweringRow>& lowering_table() {
  static const std::vector<LoweringRow> rows = [] {
    std::vector<LoweringRow> all;
    for (const auto& part : {matrix_rows(),     convolution_rows(), transposed_convolution_rows(),
                             product_rows(),    window_rows(),      reduction_rows(),
                             softmax_rows(),    norm_rows(),        clamp_rows(),
                             arithmetic_rows(), shape_rows(),       channel_rows(),
                             join_rows(),       movement_rows(),    pad_rows(),
                             mask_rows(),       comparison_rows(),  threshold_rows(),
                             embedding_rows(),  table_rows()})
      all.insert(all.end(), part.begin(), part.end());
    return all;
  }();
  return rows;
}

/// Null without a datapath.
const LoweringRow* find_lowering(std::string_view op) {
  const auto& rows = lowering_table();
  const auto found =
      std::ranges::find_if(rows, [&](const LoweringRow& row) { return row.op == op && !row.when; });
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace

const LoweringRow* lowering_of(const ir::Graph& graph, const ir::Node& node) {
  static const LoweringRow own{"custom", lower_custom};
  if (ir::custom_op(graph, node)) return &own;
  const std::string op = op_of(graph, node);
  for (const LoweringRow& row : lowering_table())
    if (row.op == op && row.when && row.when(node)) return &row;
  return find_lowering(op);
}

bool has_datapath(std::string_view op) { return find_lowering(op) != nullptr; }

bool passes_values_on(std::string_view op) {
  const LoweringRow* row = find_lowering(op);
  return row && row->commutes;
}

std::string op_of(const ir::Graph& graph, const ir::Node& node) {
  const std::string op = ir::classify(graph, node).op;
  return find_lowering(op) ? op : std::string(ir::plain_op(op));
}

}  // namespace mase::integer
