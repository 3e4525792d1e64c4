// SPDX-License-Identifier: Apache-2.0
// Uninitialised tensors: torch.empty and similar operators, filled by later operators.
#include <ATen/core/Tensor.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>

#include "torch/import/interpreter.hpp"

namespace mase::libtorch {
namespace {

/// Whether the first reader of `empty` is `empty.scatter_(0, p, arange(...))`, where p is the
/// tensor whose shape it has. A permutation p then leaves no element without a value.
bool is_filled_at_once(const jit::Node* empty) {
  const jit::Value* out = empty->output();
  const auto fills = [&](const jit::Use& use) {
    const jit::Node* node = use.user;
    return node->kind() == c10::aten::scatter_ && use.offset == 0 && node->inputs().size() == 4 &&
           node->owningBlock() == empty->owningBlock() &&
           jit::constant_as<std::int64_t>(node->input(1)) == 0 &&
           node->input(2) == empty->input(0) && node->input(3)->node()->kind() == c10::aten::arange;
  };
  const auto& uses = out->uses();
  const auto filling = std::ranges::find_if(uses, fills);
  return filling != uses.end() && std::ranges::all_of(uses, [&](const jit::Use& use) {
           return use.user == filling->user ? use.offset == filling->offset
                                            : filling->user->isBefore(use.user);
         });
}

}  // namespace

/// The operator that makes the same tensor filled with a number, and the argument for the number.
struct Filled {
  std::string_view op, filled;
  std::size_t place;
};

constexpr Filled filled_operators[] = {
    {"aten::empty.memory_format", "aten::full", 1},
    {"aten::empty_like", "aten::full_like", 1},
    {"aten::new_empty", "aten::new_full", 2},
};

void Importer::empty(const jit::Node* node, Environment& environment) {
  const std::vector<Ref> inputs = inputs_of(node, environment);
  const std::string op = operator_name(node);
  const auto found = std::ranges::find(filled_operators, op, &Filled::op);
  if (found == std::end(filled_operators)) return apply_operator(node, environment);
  const bool vector = inputs[0]->value.isTensor() && inputs[0]->value.toTensor().dim() == 1;
  if (!(vector && is_filled_at_once(node)) && empty_at_.empty()) empty_at_ = places_of(node);
  OpCall call = call_of(node, inputs);
  call.op = std::string(found->filled);
  const auto place = static_cast<std::ptrdiff_t>(found->place);
  call.args.insert(call.args.begin() + place, {"fill_value", constant_cell(fill_)});
  call.is_default.insert(call.is_default.begin() + place, false);
  if (op == "aten::empty.memory_format") {  // full has none
    call.args.pop_back();
    call.is_default.pop_back();
  }
  if (std::ranges::any_of(inputs, [](const Ref& cell) { return !is_static(*cell); })) {
    environment[node->output()] = builder_.emit(std::move(call));
    return;
  }
  std::vector<c10::IValue> arguments;
  for (const auto& [name, cell] : call.args) arguments.push_back(concrete(*cell));
  environment[node->output()] = constant_cell(run_operator(call.op, std::move(arguments)));
  builder_.watch(environment[node->output()]);
}

}  // namespace mase::libtorch
