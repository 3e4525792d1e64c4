// SPDX-License-Identifier: Apache-2.0
// Recognises torch.nn.functional.softsign, for which ATen has no operator.
#include <ATen/core/Tensor.h>
#include <torch/csrc/jit/ir/constants.h>

#include <string_view>

#include "torch/import/interpreter.hpp"

namespace mase::libtorch {
namespace {

bool is_kind(const jit::Node* node, std::string_view kind) {
  return node->kind().toQualString() == kind;
}

bool is_one(const jit::Value* value) {
  const auto constant = jit::toIValue(value);
  if (!constant) return false;
  if (constant->isInt()) return constant->toInt() == 1;
  if (!constant->isTensor() || !constant->toTensor().defined()) return false;
  return constant->toTensor().numel() == 1 && constant->toTensor().item<double>() == 1.0;
}

/// The only reader of a node's result, if it is of this kind, else null.
const jit::Node* reader(const jit::Node* node, std::string_view kind) {
  const auto& uses = node->output()->uses();
  return uses.size() == 1 && is_kind(uses[0].user, kind) ? uses[0].user : nullptr;
}

/// The division of `x / (x.abs() + 1)` that begins with `abs`, or null.
const jit::Node* softsign_end(const jit::Node* abs) {
  const jit::Node* add = reader(abs, "aten::add");
  if (!add || add->inputs().size() != 3 || add->input(0) != abs->output()) return nullptr;
  if (!is_one(add->input(1)) || !is_one(add->input(2))) return nullptr;
  const jit::Node* div = reader(add, "aten::div");
  if (!div || div->inputs().size() != 2) return nullptr;
  return div->input(0) == abs->input() && div->input(1) == add->output() ? div : nullptr;
}

/// The absolute value with which a softsign that includes `node` would begin, or null.
const jit::Node* possible_begin(const jit::Node* node) {
  if (is_kind(node, "aten::div")) node = node->input(1)->node();
  if (is_kind(node, "aten::add")) node = node->input(0)->node();
  return is_kind(node, "aten::abs") ? node : nullptr;
}

/// Whether it is in torch.nn.functional. Scripts have file and expression, traces the function.
bool in_functional(const jit::Node* node) {
  const SourceText source = source_of(node);
  return source.place.find("torch/nn/functional.py:") != std::string::npos ||
         spelling_of("aten::abs", source).target == "torch.nn.functional.softsign";
}

}  // namespace

bool Importer::fuse_softsign(const jit::Node* node, Environment& environment) {
  const jit::Node* begin = possible_begin(node);
  const jit::Node* end = begin ? softsign_end(begin) : nullptr;
  if (!end || (node != begin && node != end && node != end->input(1)->node())) return false;
  // In the user's own code it stays three nodes, as in torch.fx.
  if (!builder_.in_scope() && !in_functional(begin)) return false;
  const Ref& x = environment.at(begin->input());
  if (is_static(*x)) return false;
  if (node == begin)
    environment[end->output()] =
        builder_.emit({"mase::softsign", {{"self", x}}, {false}, source_of(begin)});
  return true;
}

}  // namespace mase::libtorch
