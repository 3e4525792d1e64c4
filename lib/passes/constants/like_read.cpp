// SPDX-License-Identifier: Apache-2.0
// A table of operators, each with the argument whose values it does not read.
#include "passes/constants/like_read.hpp"

#include <algorithm>
#include <array>

#include "ir/op_table.hpp"

namespace mase::passes {
namespace {

struct LikeRow {
  std::string_view op, argument;
  bool shape;
};

constexpr std::array<LikeRow, 8> rows{{{"aten::zeros_like", "self", true},
                                       {"aten::ones_like", "self", true},
                                       {"aten::full_like", "self", true},
                                       {"aten::new_zeros", "self", false},
                                       {"aten::new_ones", "self", false},
                                       {"aten::new_full", "self", false},
                                       {"aten::type_as", "other", false},
                                       {"aten::to", "other", false}}};

}  // namespace

std::optional<LikeRead> like_read(const ir::Node& node) {
  const auto row = std::ranges::find(rows, ir::base_op(node.op), &LikeRow::op);
  if (row == rows.end()) return std::nullopt;
  const ir::Value* tensor = node.find(row->argument);
  if (!tensor || !tensor->is_node()) return std::nullopt;
  return LikeRead{row->argument, tensor->node(), row->shape};
}

std::vector<ir::NodeId> values_read(const ir::Graph& graph, const ir::Node& node) {
  std::vector<ir::NodeId> found = graph.inputs(node.id);
  if (const auto like = like_read(node)) std::erase(found, like->tensor);
  return found;
}

}  // namespace mase::passes
