// SPDX-License-Identifier: Apache-2.0
// The importer's operators: constant folding, host values, nodes and subscripts.
#include "torch/import/interpreter.hpp"

#include <ATen/ops/scalar_tensor.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "base/crash.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "ir/allowed_operators.hpp"
#include "ir/op_table.hpp"
#include "ir/train_mode.hpp"
#include "torch/run/operator_demands.hpp"
#include "torch/run/operators.hpp"
#include "torch/run/tensors.hpp"

namespace mase::libtorch {

void Importer::alias(const jit::Node* node, Environment& environment) {
  Ref cell = environment.at(node->inputs().at(0));
  if (node->kind() == c10::prim::NumToTensor) {
    if (is_static(*cell)) {
      fold(node, environment, inputs_of(node, environment));
      return;
    }
    cell = make_cell(*cell);
    cell->size_tensor = true;
  }
  environment[node->output()] = cell;
}

void Importer::alias_of_size(const jit::Node* node, Environment& environment) {
  Ref cell = environment.at(node->inputs().at(0));
  if (!cell->size_tensor) return apply_operator(node, environment);
  cell = make_cell(*cell);
  cell->size_tensor = false;
  environment[node->output()] = cell;
}

void Importer::move_or_convert(const jit::Node* node, Environment& environment) {
  const std::vector<Ref> inputs = inputs_of(node, environment);
  enum { tensor, device, dtype, non_blocking, copy };
  const bool moves = operator_name(node) == "aten::to.prim_Device" &&
                     std::all_of(inputs.begin() + 1, inputs.end(),
                                 [](const Ref& cell) { return is_static(*cell); });
  const bool stays = moves && inputs[device]->value.isDevice() &&
                     inputs[device]->value.toDevice().is_cpu() && inputs[dtype]->value.isNone() &&
                     inputs[copy]->value.isBool() && !inputs[copy]->value.toBool();
  stays ? alias(node, environment) : apply_operator(node, environment);
}

void Importer::compare_none(const jit::Node* node, Environment& environment) {
  const auto is_none = [&](std::size_t i) {
    const Cell& cell = *environment.at(node->inputs().at(i));
    return cell.kind == Cell::Kind::constant && cell.value.isNone();
  };
  const Cell& left = *environment.at(node->inputs().at(0));
  const Cell& right = *environment.at(node->inputs().at(1));
  const bool same = is_none(0) && is_none(1);
  const bool negate = node->kind() == c10::aten::__isnot__;
  environment[node->output()] =
      constant_cell(same != negate, is_tainted(left) || is_tainted(right));
}

void Importer::format(const jit::Node* node, Environment& environment) {
  const std::vector<Ref> inputs = inputs_of(node, environment);
  Cell text;
  text.value = run_jit(node, inputs);
  const bool known =
      std::all_of(inputs.begin(), inputs.end(), [](const Ref& cell) { return is_static(*cell); });
  if (!known) text.kind = Cell::Kind::dynamic;  // only usable in a message
  environment[node->output()] = make_cell(std::move(text));
}

void Importer::example_constant(const jit::Node* node, Environment& environment) {
  environment[node->output()] = constant_cell(run_jit(node, inputs_of(node, environment)));
}

void Importer::is_instance(const jit::Node* node, Environment& environment) {
  const Ref cell = environment.at(node->input());
  const c10::TypePtr declared = node->input()->type(), found = concrete(*cell).type();
  const auto& types = node->tys(jit::attr::types);
  environment[node->output()] =
      constant_cell(std::ranges::any_of(types, [&](const c10::TypePtr& type) {
        return declared->isSubtypeOf(*type) || found->isSubtypeOf(*type);
      }));
}

c10::IValue Importer::run_jit(const jit::Node* node, const std::vector<Ref>& inputs) const {
  jit::Stack stack;
  const c10::FunctionSchema* schema = node->maybeSchema();
  if (!schema) {
    unsupported_error(std::string(node->kind().toQualString()) + " at " + places_of(node) +
                      " is not supported");
  }
  require_allowed(node);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool typed = i < schema->arguments().size();
    const Ref input = typed ? with_precision(schema->arguments()[i], inputs[i]) : inputs[i];
    stack.push_back(concrete(*input, typed ? schema->arguments()[i].type() : nullptr));
    if (inputs[i]->size_tensor)
      stack.back() = at::scalar_tensor(stack.back().toScalar(), at::kLong);
  }
  require_fixed(node, *schema, stack);
  const std::string unmet = operator_demand(operator_name(node), schema, stack);
  if (!unmet.empty())
    file_error(std::string(node->kind().toQualString()) + " at " + places_of(node) + " " + unmet);
  if (schema->is_vararg()) stack.push_back(static_cast<std::int64_t>(inputs.size()));
  const Running running(Running::Kind::model_operator, node->kind().toQualString());
  try {
    node->getOperation()(stack);
  } catch (const std::exception& error) {
    file_error(std::string(node->kind().toQualString()) + " at " + places_of(node) +
               " fails: " + split(error.what(), '\n')[0]);
  }
  if (stack.empty()) return {};
  return stack.size() == 1 ? stack[0] : c10::ivalue::Tuple::create(std::move(stack));
}

/// Checks that an operator on constants is not random, such as dropout in train mode.
void Importer::require_fixed(const jit::Node* node, const c10::FunctionSchema& schema,
                             const jit::Stack& arguments) {
  const ir::DrawingOp* op = ir::drawing_op(ir::plain_op(node->kind().toQualString()));
  if (!op) return;
  const auto given = [&](std::string_view name) {
    const auto index = schema.argumentIndexWithName(std::string(name));
    return index ? arguments.at(static_cast<std::size_t>(*index)) : c10::IValue();
  };
  const c10::IValue training = given(op->training), amount = given(op->amount);
  const bool trains = op->training.empty() || (training.isBool() && training.toBool());
  const bool draws = op->amount.empty() || (amount.isScalar() && amount.toScalar().toDouble() > 0);
  if (trains && draws)
    unsupported_error(std::string(node->kind().toQualString()) + " at " + places_of(node) +
                      " is not supported: it draws random numbers for a constant even in eval "
                      "mode; save the model after model.eval(), and pass training=self.training to "
                      "functions");
}

void Importer::require_allowed(const jit::Node* node) {
  const std::string name = node->kind().toQualString();
  if (is_impure(ir::plain_op(name)))
    unsupported_error(name + " at " + places_of(node) +
                      " is not supported: its result is not a fixed function of the input");
  if (!ir::is_allowed(name))
    unsupported_error("operator " + name + " at " + places_of(node) +
                      " is not supported: " + ir::not_allowed(name));
}

void Importer::fold(const jit::Node* node, Environment& environment,
                    const std::vector<Ref>& inputs) {
  const c10::FunctionSchema* schema = node->maybeSchema();
  for (const Ref& input : inputs)
    if (Builder::is_stale(input)) Builder::refuse_stale(input, " at " + places_of(node));
  const bool tainted =
      std::any_of(inputs.begin(), inputs.end(), [](const Ref& c) { return is_tainted(*c); });
  const Ref result = constant_cell(run_jit(node, inputs), tainted);
  if (schema && schema->is_mutable() && !inputs.empty() && is_tensor(*inputs[0]))
    builder_.changed_constant(inputs[0]->value.toTensor());
  builder_.watch(result);
  store_outputs(node, environment, result);
}

void Importer::store_outputs(const jit::Node* node, Environment& environment, const Ref& result) {
  if (node->outputs().size() == 1) {
    environment[node->output()] = result;
    return;
  }
  for (std::size_t i = 0; i < node->outputs().size(); ++i) {
    if (!node->outputs()[i]->uses().empty()) {
      environment[node->outputs()[i]] = element(result, static_cast<std::int64_t>(i));
    }
  }
}

void Importer::apply_operator(const jit::Node* node, Environment& environment) {
  const std::vector<Ref> inputs = inputs_of(node, environment);
  const auto any = [&](auto test) { return std::any_of(inputs.begin(), inputs.end(), test); };
  if (!any([](const Ref& cell) { return !is_static(*cell); })) {
    fold(node, environment, inputs);
  } else if (is_host_condition(node, inputs) || any([](const Ref& c) { return c->from_data; })) {
    environment[node->output()] = host_value(node, inputs);
  } else if (reads_size(node, inputs)) {
    environment[node->output()] = builder_.emit(call_of(node, inputs));
  } else if (reads_tensor(node, inputs)) {
    Ref cell = host_value(node, inputs);
    cell->from_data = true;
    environment[node->output()] = cell;
  } else {
    store_outputs(node, environment, builder_.emit(call_of(node, inputs)));
  }
}

bool Importer::is_host_condition(const jit::Node* node, const std::vector<Ref>& inputs) {
  if (node->outputs().size() != 1) return false;
  if (node->output()->type()->kind() != c10::TypeKind::BoolType) return false;
  return std::none_of(inputs.begin(), inputs.end(),
                      [](const Ref& cell) { return is_tensor(*cell); });
}

bool Importer::reads_size(const jit::Node* node, const std::vector<Ref>& inputs) {
  return inputs.size() == 1 && inputs[0]->from_sizes && node->outputs().size() == 1 &&
         find_host_operator(operator_name(node)) != nullptr;
}

bool Importer::reads_tensor(const jit::Node* node, const std::vector<Ref>& inputs) {
  const HostOperator* known = find_host_operator(operator_name(node));
  if (node->outputs().size() != 1 || (known && !known->reads_values)) return false;
  const auto kind = node->output()->type()->kind();
  const bool host = kind == c10::TypeKind::IntType || kind == c10::TypeKind::FloatType ||
                    kind == c10::TypeKind::BoolType || kind == c10::TypeKind::NumberType;
  return host && std::any_of(inputs.begin(), inputs.end(),
                             [](const Ref& cell) { return is_tensor(*cell); });
}

Ref Importer::host_value(const jit::Node* node, const std::vector<Ref>& inputs) const {
  Cell cell;
  cell.kind = Cell::Kind::dynamic;
  cell.value = run_jit(node, inputs);
  cell.from_data =
      std::any_of(inputs.begin(), inputs.end(), [](const Ref& c) { return c->from_data; });
  cell.text = std::string(node->kind().toUnqualString()) + "(";
  for (const Ref& input : inputs) {
    cell.text += (cell.text.ends_with("(") ? "" : ", ") + builder_.operand_text(*input);
  }
  cell.text += ")";
  return make_cell(std::move(cell));
}

std::string Importer::operator_name(const jit::Node* node) {
  const c10::FunctionSchema* schema = node->maybeSchema();
  return schema ? full_name(*schema) : node->kind().toQualString();
}

Ref Importer::with_precision(const c10::Argument& argument, const Ref& cell) const {
  const bool given = converted_ && argument.name() == "dtype" && is_static(*cell) &&
                     cell->value.isInt() &&
                     cell->value.toInt() == static_cast<std::int64_t>(*converted_);
  return given ? constant_cell(static_cast<std::int64_t>(at::kFloat)) : cell;
}

OpCall Importer::call_of(const jit::Node* node, const std::vector<Ref>& inputs) const {
  const c10::FunctionSchema* schema = node->maybeSchema();
  if (!schema || schema->is_vararg()) refuse_operator(node);
  OpCall call{operator_name(node), {}, {}, source_of(node)};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const c10::Argument& argument = schema->arguments().at(i);
    call.args.emplace_back(argument.name(), with_precision(argument, inputs[i]));
    call.is_default.push_back(equals_default(argument, *call.args[i].second));
  }
  return call;
}

void Importer::refuse_operator(const jit::Node* node) {
  unsupported_error(std::string(node->kind().toQualString()) + " at " + places_of(node) +
                    " is not supported");
}

bool Importer::equals_default(const c10::Argument& argument, const Cell& cell) {
  if (!argument.default_value() || !is_static(cell) || is_tainted(cell)) return false;
  const c10::IValue value = concrete(cell, argument.type());
  if (value.isTensor() || argument.default_value()->isTensor()) return false;
  return to_value(value) == to_value(*argument.default_value());
}

void Importer::index_tensor(const jit::Node* node, Environment& environment) {
  const std::vector<Ref> inputs = inputs_of(node, environment);
  if (inputs[0]->kind == Cell::Kind::list || inputs[0]->value.isList()) {
    if (node->kind() == c10::aten::index) return apply_operator(node, environment);  // its place
    environment[node->output()] = list_slice(node, inputs);
    return;
  }
  const jit::Value* base = node->inputs().at(0);
  const auto waiting = pending_.find(base);
  std::optional<Subscript> subscript;
  if (!builder_.in_scope() && !is_static(*inputs[0]) && !inputs[0]->size_tensor) {
    Subscript start{inputs[0], {}, 0, subscript_place(node)};
    if (waiting != pending_.end()) start = waiting->second;
    subscript = extended(start, node->kind().toUnqualString(), inputs, builder_);
  }
  if (waiting != pending_.end()) {
    pending_.erase(waiting);
    MASE_CHECK(subscript, "a subscript that waits can be extended");
  }
  if (!subscript) {
    apply_operator(node, environment);
    return note_constant_view(node, inputs, environment);
  }
  const c10::IValue value = run_jit(node, inputs);
  if (continues(node, *subscript)) {
    Cell cell = *inputs[0];
    cell.value = value;
    environment[node->output()] = make_cell(std::move(cell));
    pending_.emplace(node->output(), std::move(*subscript));
  } else {
    environment[node->output()] =
        builder_.get_item(subscript->base, index_value(*subscript), value, subscript->steps);
  }
}

void Importer::note_constant_view(const jit::Node* node, const std::vector<Ref>& inputs,
                                  Environment& environment) {
  const Ref& part = environment.at(node->output());
  if (!is_static(*inputs[0]) || !is_static(*part) || !is_tensor(*part)) return;
  const auto subscript =
      extended({inputs[0], {}, 0, ""}, node->kind().toUnqualString(), inputs, builder_);
  if (subscript && !subscript->steps.empty())
    part->view = std::make_shared<View>(View{inputs[0], subscript->steps, index_value(*subscript)});
}

bool Importer::continues(const jit::Node* node, const Subscript& subscript) {
  const auto& uses = node->output()->uses();
  if (uses.size() != 1 || uses[0].offset != 0) return false;
  const jit::Node* user = uses[0].user;
  const std::string_view kind = user->kind().toQualString();
  if (kind != "aten::slice" && kind != "aten::select" && kind != "aten::unsqueeze") return false;
  if (user->owningBlock() != node->owningBlock()) return false;
  const auto dim = jit::constant_as<std::int64_t>(user->inputs().at(1));
  return dim && *dim == subscript.next_dim && subscript_place(user) == subscript.place;
}

}  // namespace mase::libtorch
