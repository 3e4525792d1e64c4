// SPDX-License-Identifier: Apache-2.0
// Scalar operators: TorchScript's own functions from numbers to a number, run by TorchScript, whose
// registry is the only place that has them.
#include <torch/csrc/jit/runtime/operator.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "base/crash.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "ir/allowed_operators.hpp"
#include "ir/op_table.hpp"
#include "torch/run/enumerations.hpp"
#include "torch/run/operators.hpp"

namespace mase::libtorch {

namespace jit = torch::jit;

namespace {

bool is_number(const c10::TypePtr& type) {
  const auto kind = type->kind();
  return kind == c10::TypeKind::IntType || kind == c10::TypeKind::FloatType ||
         kind == c10::TypeKind::BoolType || kind == c10::TypeKind::NumberType;
}

bool is_plain_argument(const c10::TypePtr& type) {
  if (type->kind() == c10::TypeKind::ListType) return is_number(type->containedType(0));
  return is_number(type) || type->kind() == c10::TypeKind::StringType;
}

/// Whether an operator takes only numbers, lists of numbers and text, and returns one number. It
/// can then neither store, change nor write anything, and its result has a fixed size.
bool is_scalar(const c10::FunctionSchema& schema) {
  return !schema.is_vararg() && !schema.is_mutable() && !schema.arguments().empty() &&
         std::ranges::all_of(schema.arguments(), is_plain_argument, &c10::Argument::type) &&
         schema.returns().size() == 1 && is_number(schema.returns()[0].type());
}

std::int64_t as_int(const c10::IValue& value) {
  return value.isBool() ? static_cast<std::int64_t>(value.toBool()) : value.toInt();
}

/// Converts a number to the kind that an operator takes.
c10::IValue as_argument(const c10::IValue& value, const c10::TypePtr& type) {
  const bool whole = value.isInt() || value.isBool();
  if (type->kind() == c10::TypeKind::FloatType && whole) return static_cast<double>(as_int(value));
  if (type->kind() == c10::TypeKind::IntType && value.isBool()) return as_int(value);
  return value;
}

/// Whether it has the form "aten::NAME" or "prim::NAME", as LibTorch's symbols require.
bool is_operator_name(std::string_view base) {
  constexpr std::size_t prefix = 6;
  return (base.starts_with("aten::") || base.starts_with("prim::")) && base.size() > prefix &&
         std::ranges::all_of(base.substr(prefix), is_identifier_char);
}

/// Holds the operator, because the registry may replace it (torch/import/registry_guard.hpp).
HostOperator from_torchscript(std::string_view name, const std::shared_ptr<jit::Operator>& op) {
  HostOperator row{name, {}, {}};
  for (const c10::Argument& argument : op->schema().arguments())
    row.arguments.emplace_back(argument.name());
  row.run = [op, name](const std::vector<c10::IValue>& in) {
    jit::Stack stack;
    for (std::size_t i = 0; i < in.size(); ++i)
      stack.push_back(as_argument(in[i], op->schema().arguments()[i].type()));
    if (const std::string unmet = enumeration_demand(op->schema(), stack); !unmet.empty())
      file_error(std::string(name) + " " + unmet);
    const Running running(Running::Kind::model_operator, op->schema().name().c_str());
    try {
      op->getOperation()(stack);
    } catch (const std::exception& error) {
      file_error(std::string(name) + " fails: " + split(error.what(), '\n')[0]);
    }
    return stack.at(0);
  };
  return row;
}

}  // namespace

bool is_known_to_torchscript(std::string_view op) {
  const std::string base(ir::base_op(op));
  if (!is_operator_name(base)) return false;
  const auto& all = jit::getAllOperatorsFor(c10::Symbol::fromQualString(base));
  return std::ranges::any_of(all, [&](const auto& one) { return full_name(one->schema()) == op; });
}

const HostOperator* find_scalar_operator(std::string_view op) {
  static std::mutex mutex;
  static std::map<std::string, std::optional<HostOperator>, std::less<>> known;
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(op); found != known.end())
    return found->second ? &*found->second : nullptr;
  const std::string base(ir::base_op(op));
  if (is_impure(base) || !ir::is_allowed(base) || !is_operator_name(base)) return nullptr;
  std::optional<HostOperator>& entry = known[std::string(op)];
  for (const auto& candidate : jit::getAllOperatorsFor(c10::Symbol::fromQualString(base))) {
    if (full_name(candidate->schema()) != op || !is_scalar(candidate->schema())) continue;
    entry = from_torchscript(known.find(op)->first, candidate);
    return &*entry;
  }
  return nullptr;
}

}  // namespace mase::libtorch
