// SPDX-License-Identifier: Apache-2.0
// Replaces LibTorch's operators by guarded ones.
#include "torch/import/registry_guard.hpp"

#include <torch/csrc/jit/runtime/operator.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/crash.hpp"
#include "base/error.hpp"
#include "ir/allowed_operators.hpp"
#include "torch/run/enumerations.hpp"
#include "torch/run/operator_demands.hpp"
#include "torch/run/operators.hpp"

namespace mase::libtorch {

namespace jit = torch::jit;

namespace {

using OperatorPtr = std::shared_ptr<jit::Operator>;

/// Whether it can be replaced. Words of the language (prim::) cannot; some are made for their node.
bool is_replaceable(const jit::Operator& op) {
  const c10::FunctionSchema& schema = op.schema();
  return !schema.name().starts_with("prim::") && op.hasOperation() && !schema.is_vararg() &&
         !schema.is_varret();
}

/// The function of mase that replaces it, or nullptr.
const HostOperator* replacement_of(const std::string& name) {
  const HostOperator* own = find_own_operator(name);
  return own && own->replaces ? own : nullptr;
}

bool needs_guard(const jit::Operator& op) {
  const c10::FunctionSchema& schema = op.schema();
  return !ir::is_allowed(schema.name()) || replacement_of(full_name(schema)) ||
         has_demands(schema.name()) || std::ranges::any_of(schema.arguments(), is_enumeration);
}

/// The arguments on top of the stack, in order.
std::vector<c10::IValue> arguments_on(const jit::Stack& stack, const c10::FunctionSchema& schema) {
  const auto count = static_cast<std::ptrdiff_t>(schema.arguments().size());
  return {stack.end() - count, stack.end()};
}

/// The number of guards of this thread.
thread_local int guards = 0;

void run_guarded(const jit::Operator& op, jit::Stack& stack) {
  if (guards == 0) return op.getOperation()(stack);
  const c10::FunctionSchema& schema = op.schema();
  const std::string name = full_name(schema);
  if (!ir::is_allowed(name)) unsupported_error(ir::not_allowed(name));
  const std::vector<c10::IValue> arguments = arguments_on(stack, schema);
  if (const std::string unmet = operator_demand(name, &schema, arguments); !unmet.empty())
    file_error(name + " " + unmet);
  const Running running(Running::Kind::model_operator, name.c_str());
  const HostOperator* own = replacement_of(name);
  if (!own) return op.getOperation()(stack);
  stack.resize(stack.size() - arguments.size());
  const c10::IValue result = own->run(arguments);
  if (schema.returns().size() == 1) return stack.push_back(result);
  for (const c10::IValue& item : result.toTupleRef().elements()) stack.push_back(item);
}

/// The guarded replacement of `op`, with the same schema.
jit::Operator guarded(const OperatorPtr& op) {
  const c10::FunctionSchema& schema = op->schema();
  return {schema.name(),
          schema.overload_name(),
          schema.arguments(),
          schema.returns(),
          [op](jit::Stack& stack) { run_guarded(*op, stack); },
          op->aliasAnalysisKind()};
}

/// All overloads of every name of which one needs a guard. Replaced overloads come after the
/// others, and LibTorch takes the first overload that fits, so all of them are replaced.
std::vector<OperatorPtr> to_be_replaced() {
  std::map<std::string, std::vector<OperatorPtr>> by_name;
  std::map<std::string, bool> wanted;
  for (const OperatorPtr& op : jit::getAllOperators()) {
    if (!is_replaceable(*op)) continue;
    by_name[op->schema().name()].push_back(op);
    wanted[op->schema().name()] |= needs_guard(*op);
  }
  std::vector<OperatorPtr> all;
  for (const auto& [name, overloads] : by_name)
    if (wanted[name])
      for (const OperatorPtr& op : jit::getAllOperatorsFor(c10::Symbol::fromQualString(name)))
        if (is_replaceable(*op)) all.push_back(op);
  return all;
}

void guard_registry() {
  static const bool done = [] {
    const std::vector<OperatorPtr> all = to_be_replaced();
    for (const OperatorPtr& op : all) jit::deregisterOperator(op->schema());
    for (const OperatorPtr& op : all) jit::registerOperator(guarded(op));
    return true;
  }();
  static_cast<void>(done);
}

}  // namespace

RegistryGuard::RegistryGuard() {
  guard_registry();
  ++guards;
}

RegistryGuard::~RegistryGuard() { --guards; }

}  // namespace mase::libtorch
