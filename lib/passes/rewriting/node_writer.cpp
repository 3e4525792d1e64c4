// SPDX-License-Identifier: Apache-2.0
// The op table gives the kind and the target of a call.
#include "passes/rewriting/node_writer.hpp"

#include "base/error.hpp"
#include "ir/op_table.hpp"

namespace mase::passes {

NodeWriter::NodeWriter(ir::Graph& graph, ir::NodeId before, DType dtype)
    : graph_(graph), before_(before), dtype_(dtype) {}

ir::NodeId NodeWriter::call(std::string_view op, const std::string& part,
                            std::vector<ir::Argument> args, ir::ValueInfo info) {
  const ir::CallRow* row = ir::find_call(ir::base_op(op));
  MASE_CHECK(row, "an operator outside of the table");
  ir::Node node;
  node.name = part.empty() ? prefix_ : prefix_ + "_" + part;
  node.kind = row->kind;
  node.target = row->target;
  node.op = op;
  node.args = std::move(args);
  node.info = std::move(info);
  return graph_.add(std::move(node), before_);
}

ir::NodeId NodeWriter::call(std::string_view op, const std::string& part,
                            std::vector<ir::Argument> args, Shape shape) {
  return call(op, part, std::move(args), ir::ValueInfo::tensor(dtype_, std::move(shape)));
}

ir::NodeId NodeWriter::size(ir::NodeId tensor, std::int64_t dim, const std::string& part) {
  ir::ValueInfo number;
  number.kind = ir::ValueInfo::Kind::integer;
  return call("aten::size.int", part, {{"self", ref(tensor)}, {"dim", dim}}, std::move(number));
}

}  // namespace mase::passes
