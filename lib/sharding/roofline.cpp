// SPDX-License-Identifier: Apache-2.0
// Views are known by the aliases in the signatures of ATen.
#include "sharding/roofline.hpp"

#include <algorithm>
#include <string_view>

#include "ir/op_schemas.hpp"
#include "ir/op_table.hpp"

namespace mase::sharding {
namespace {

/// An argument of which an operator reads the places that indices name.
struct Table {
  std::string_view op, argument;
};
constexpr Table tables[] = {
    {"aten::embedding", "weight"},
    {"aten::gather", "self"},
    {"aten::index", "self"},
    {"aten::index_select", "self"},
};

bool is_table(const ir::Node& node, const Operand& operand) {
  const std::string_view op = ir::base_op(node.op);
  return std::ranges::any_of(
      tables, [&](const Table& row) { return row.op == op && row.argument == operand.argument; });
}

/// The bytes of a tensor, or of all tensors of a list.
double bytes_of(const ir::ValueInfo& info) {
  double bytes = 0;
  if (info.is_tensor())
    bytes = static_cast<double>(numel(info.shape)) * static_cast<double>(size_of(info.dtype));
  for (const ir::ValueInfo& item : info.elements) bytes += bytes_of(item);
  return bytes;
}

/// Whether the result is memory of an argument.
bool is_view(const ir::Node& node) {
  if (node.op == "mase::getitem") return true;  // Python's subscripts, which no signature describes
  const ir::OpSchema* schema = ir::find_schema(node.op);
  return schema && std::ranges::all_of(schema->results, [](const ir::SchemaPart& result) {
           return !result.alias.empty();
         });
}

}  // namespace

double memory_bytes(const Mesh& mesh, const ir::Node& node, const std::vector<Operand>& operands,
                    const std::vector<Layout>& layouts, const Layout& result) {
  if (node.op.empty() || is_view(node)) return 0;
  const double written = bytes_of(node.info) / static_cast<double>(parts(mesh, result));
  if (written == 0) return 0;  // sizes and numbers
  double bytes = written;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const double read = bytes_of(operands[i].info) / static_cast<double>(parts(mesh, layouts[i]));
    bytes += is_table(node, operands[i]) ? std::min(read, written) : read;
  }
  return bytes;
}

double compute_seconds(const Mesh& mesh, double flops, double bytes) {
  return std::max(flops / mesh.flops, bytes / mesh.memory_bandwidth);
}

}  // namespace mase::sharding
