// SPDX-License-Identifier: Apache-2.0
// Operators of targets, and how torch.fx writes their calls.
#include <algorithm>

#include "ir/op_table.hpp"
#include "pt2/import/importer.hpp"

namespace mase::pt2 {
namespace {

/// Python's operators on sizes, and the operators of the host that they are: for integers, and for
/// operands of which one is a float.
struct SizeOperator {
  std::string_view target, of_integers, of_floats;
};
constexpr SizeOperator size_operators[] = {
    {"_operator.add", "aten::add.int", "aten::add.float"},
    {"_operator.sub", "aten::sub.int", "aten::sub.float"},
    {"_operator.mul", "aten::mul.int", "aten::mul.float"},
    {"_operator.truediv", "aten::div.int", "aten::div.float"},
    {"_operator.floordiv", "aten::floordiv.int", "aten::floordiv.float"},
    {"_operator.mod", "aten::remainder.int", ""},
    {"_operator.neg", "aten::neg.int", ""},
    {"_operator.pow", "", "aten::pow.float"},
    {"torch.sym_max", "prim::max.int", ""},
    {"torch.sym_min", "prim::min.int", ""},
    {"torch.sym_float", "aten::Float.Scalar", "aten::Float.Scalar"},
    {"torch.sym_int", "", "aten::Int.float"},
    {"torch.ops.aten.sym_size.int", "aten::size.int", ""},
    {"torch.ops.aten.sym_numel.default", "aten::numel", ""},
};

const SizeOperator* size_operator(std::string_view target) {
  const auto* row = std::ranges::find(size_operators, target, &SizeOperator::target);
  return row == std::end(size_operators) ? nullptr : row;
}

constexpr std::string_view functional = "torch.nn.functional.";

/// Whether the line calls a method or function of this name: ".view(".
bool calls(const Node& node, const std::string& name) {
  return node.source.find("." + name + "(") != std::string::npos;
}

}  // namespace

bool is_size_operator(std::string_view target) { return size_operator(target) != nullptr; }

std::string operator_on_floats(std::string_view target) {
  const SizeOperator* row = size_operator(target);
  return row ? std::string(row->of_floats) : "";
}

std::string operator_of(std::string_view target) {
  if (const SizeOperator* row = size_operator(target)) return std::string(row->of_integers);
  constexpr std::string_view aten = "torch.ops.aten.";
  if (!target.starts_with(aten)) return "";
  const std::string_view rest = target.substr(aten.size());
  const std::size_t dot = rest.find('.');
  const std::string op = "aten::" + std::string(rest.substr(0, dot));
  const std::string_view overload = dot == std::string_view::npos ? "" : rest.substr(dot + 1);
  return overload.empty() || overload == "default" ? op : op + "." + std::string(overload);
}

Spelling spelling_of(std::string_view op, const Node& node, bool alone) {
  const std::string_view base = ir::base_op(op);
  const std::string name(base.substr(base.rfind(':') + 1));
  const ir::CallRow* row = ir::find_call(base);
  const Spelling plain = row ? Spelling{row->kind, std::string(row->target)}
                             : Spelling{ir::NodeKind::call_function, "torch." + name};
  const std::string& called = node.function.name;
  if (node.function.kind == "function") {
    const std::string target = std::string(functional) + called;
    return ir::python_signature(target) && (called == name || alone)
               ? Spelling{ir::NodeKind::call_function, target}
               : plain;
  }
  if (called != name) return plain;
  if (node.function.kind == "builtin_function_or_method" && plain.kind == ir::NodeKind::call_method)
    return {ir::NodeKind::call_function, "torch." + name};
  if (node.function.kind != "method_descriptor") return plain;
  const bool is_operator = plain.target.starts_with("_operator.") || name == "matmul";
  if (is_operator && !calls(node, name))
    return name == "matmul" ? Spelling{ir::NodeKind::call_function, "_operator.matmul"} : plain;
  return {ir::NodeKind::call_method, name};
}

}  // namespace mase::pt2
