// SPDX-License-Identifier: Apache-2.0
// Recognising torch.nn.utils.rnn.invert_permutation, whose result starts without values.
#include <ATen/core/Tensor.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>

#include "torch/import/interpreter.hpp"

namespace mase::libtorch {
namespace {

/// Whether what reads `empty` first is `empty.scatter_(0, p, arange(...))`, with the tensor that it
/// is made like as p: a permutation then leaves no element without a value.
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

void Importer::empty_like(const jit::Node* node, Environment& environment) {
  const std::vector<Ref> inputs = inputs_of(node, environment);
  const bool vector = inputs[0]->value.isTensor() && inputs[0]->value.toTensor().dim() == 1;
  if (!vector || !is_filled_at_once(node)) return apply_operator(node, environment);
  const std::string zeros = "aten::zeros_like";
  if (std::ranges::all_of(inputs, [](const Ref& cell) { return is_static(*cell); })) {
    std::vector<c10::IValue> arguments;
    for (const Ref& cell : inputs) arguments.push_back(cell->value);
    const Ref constant = constant_cell(run_operator(zeros, std::move(arguments)));
    builder_.watch(constant);
    environment[node->output()] = constant;
    return;
  }
  OpCall call = call_of(node, inputs);
  call.op = zeros;
  environment[node->output()] = builder_.emit(std::move(call));
}

}  // namespace mase::libtorch
