// SPDX-License-Identifier: Apache-2.0
// Chooses the plain operator for a general call.
#include "torch/import/call_forms.hpp"

#include <ATen/core/ivalue.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <algorithm>
#include <array>

#include "ir/op_table.hpp"
#include "torch/run/operators.hpp"

namespace mase::libtorch {
namespace {

constexpr std::array host_names{
    std::pair{"aten::add", "aten::add.int"}, std::pair{"aten::sub", "aten::sub.int"},
    std::pair{"aten::mul", "aten::mul.int"}, std::pair{"aten::floor_divide", "aten::floordiv.int"},
    std::pair{"aten::div", "aten::div.int"}, std::pair{"aten::remainder", "aten::remainder.int"},
};

/// Whether it is a constant 0-dim tensor, that is, a number that a trace wrapped.
bool is_wrapped_constant(const Cell& cell) {
  if (cell.kind != Cell::Kind::constant || !cell.value.isTensor()) return false;
  const at::Tensor& tensor = cell.value.toTensor();
  return tensor.defined() && tensor.dim() == 0 && !tensor.is_complex();
}

c10::IValue unwrapped(const at::Tensor& tensor) {
  if (tensor.scalar_type() == at::kBool) return tensor.item().toBool();
  if (tensor.is_floating_point()) return tensor.item().toDouble();
  return tensor.item().toLong();
}

/// The operand as a host integer, or null.
Ref host_integer(const Ref& cell) {
  if (cell->size_tensor || cell->value.isInt()) return cell;
  if (!is_wrapped_constant(*cell)) return nullptr;
  const c10::IValue number = unwrapped(cell->value.toTensor());
  return number.isInt() ? constant_cell(number) : nullptr;
}

bool is_number_kind_kept(const Cell& self, const Cell& other) {
  const bool float_tensor = self.value.toTensor().is_floating_point();
  const bool float_number =
      other.value.isTensor() ? other.value.toTensor().is_floating_point() : other.value.isDouble();
  return float_tensor || !float_number;
}

/// Whether conv2d and similar operators have this argument of aten::_convolution.
bool belongs(std::string_view argument, bool transposed) {
  if (argument == "output_padding") return transposed;
  return argument != "transposed" && argument != "benchmark" && argument != "deterministic" &&
         argument != "cudnn_enabled" && argument != "allow_tf32";
}

/// Puts the arguments into the order of the operator's schema (conv_transpose2d has groups before
/// dilation).
void reorder(OpCall& call) {
  const auto found = find_operator(call.op);
  if (!found) return;
  OpCall ordered{call.op, {}, {}, call.source};
  for (const c10::Argument& argument : found->schema().arguments()) {
    for (std::size_t i = 0; i < call.args.size(); ++i) {
      if (call.args[i].first != argument.name()) continue;
      ordered.args.push_back(call.args[i]);
      ordered.is_default.push_back(call.is_default[i]);
    }
  }
  call = std::move(ordered);
}

const Cell* find_argument(const OpCall& call, std::string_view name) {
  for (const auto& [argument, cell] : call.args) {
    if (argument == name) return cell.get();
  }
  return nullptr;
}

}  // namespace

void use_plain_convolution(OpCall& call) {
  const bool by_mode = call.op == "aten::_convolution_mode";
  if (!by_mode && ir::base_op(call.op) != "aten::_convolution") return;
  const Cell* weight = find_argument(call, "weight");
  const Cell* flag = find_argument(call, "transposed");
  if (!weight || !weight->value.isTensor()) return;
  const std::int64_t dims = weight->value.toTensor().dim() - 2;
  if (dims < 1 || dims > 3) return;
  const bool transposed = flag && flag->value.isBool() && flag->value.toBool();
  OpCall plain;
  plain.source = call.source;
  plain.op = (transposed ? "aten::conv_transpose" : "aten::conv") + std::to_string(dims) + "d";
  if (by_mode) plain.op += ".padding";
  if (transposed && dims > 1) plain.op += ".input";
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    if (!belongs(call.args[i].first, transposed)) continue;
    plain.args.push_back(call.args[i]);
    plain.is_default.push_back(call.is_default[i]);
  }
  reorder(plain);
  call = std::move(plain);
}

std::optional<OpCall> as_host_call(const OpCall& call) {
  if (call.args.size() < 2) return std::nullopt;
  const Ref a = host_integer(call.args[0].second), b = host_integer(call.args[1].second);
  if (!a || !b || !(a->size_tensor || b->size_tensor)) return std::nullopt;
  for (std::size_t i = 2; i < call.args.size(); ++i) {
    if (!call.is_default[i]) return std::nullopt;
  }
  for (const auto& [tensor_name, host_name] : host_names) {
    if (ir::base_op(call.op) != tensor_name) continue;
    return OpCall{host_name, {{"a", a}, {"b", b}}, {false, false}, call.source};
  }
  return std::nullopt;
}

void use_scalar_overload(OpCall& call) {
  const std::size_t dot = call.op.find(".Tensor");
  if (dot == std::string::npos || call.args.size() < 2 || !is_tensor(*call.args[0].second)) return;
  Ref& other = call.args[1].second;
  if (!other->size_tensor && !is_wrapped_constant(*other)) return;
  if (!is_number_kind_kept(*call.args[0].second, *other)) return;
  std::string scalar_op = call.op;
  scalar_op.replace(dot, 7, ".Scalar");
  if (!find_operator(scalar_op)) return;
  call.op = std::move(scalar_op);
  if (!other->size_tensor) other = constant_cell(unwrapped(other->value.toTensor()));
}

std::string out_of_place_operator(const std::string& op) {
  const std::string base(ir::base_op(op));
  const std::string plain(ir::plain_op(base)), same_overload = plain + op.substr(base.size());
  const auto in_place = find_operator(op);
  if (find_operator(same_overload) || !in_place) return same_overload;
  const auto types_of = [](const c10::FunctionSchema& schema) {
    std::vector<std::string> types;
    for (const c10::Argument& argument : schema.arguments())
      types.push_back(argument.type()->str());
    return types;
  };
  const auto wanted = types_of(in_place->schema());
  for (const auto& one : torch::jit::getAllOperatorsFor(c10::Symbol::fromQualString(plain)))
    if (types_of(one->schema()) == wanted) return full_name(one->schema());
  return same_overload;
}

void use_sizes_or_scales(OpCall& call) {
  const bool resamples =
      call.op.starts_with("aten::upsample_") || call.op.starts_with("aten::_upsample_");
  if (!resamples || call.op != ir::base_op(call.op) || !find_operator(call.op + ".vec")) return;
  OpCall with_either{call.op + ".vec", {}, {}, call.source};
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    const auto& [name, cell] = call.args[i];
    if (name.starts_with("scales") && !cell->value.isNone()) return;
    if (name.starts_with("scales")) continue;
    with_either.args.emplace_back(name == "self" ? "input" : name, cell);
    with_either.is_default.push_back(call.is_default[i]);
  }
  with_either.args.emplace_back("scale_factors", constant_cell({}));
  with_either.is_default.push_back(false);
  reorder(with_either);
  call = std::move(with_either);
}

}  // namespace mase::libtorch
