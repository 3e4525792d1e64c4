// SPDX-License-Identifier: Apache-2.0
// Makes Modules for leaf layers.
#include "torch/import/module.hpp"

#include <ATen/core/class_type.h>
#include <ATen/core/ivalue.h>

#include "base/text.hpp"
#include "ir/op_table.hpp"
#include "torch/import/text.hpp"
#include "torch/run/tensors.hpp"

namespace mase::libtorch {
namespace {

/// Adds an argument where it belongs. Returns false if a leaf cannot have it.
bool add_argument(LeafCall& leaf, const std::string& name, const Ref& cell, Builder& builder) {
  if (cell->kind == Cell::Kind::attribute) {
    if (!builder.has_name_below(*cell, leaf.module.path)) return false;
    leaf.module.tensors.emplace_back(name, cell->path);
  } else if (is_static(*cell)) {
    ir::Value value = builder.argument(cell);
    if (value.is_node()) return false;
    if (!value.is_none()) leaf.module.attributes.push_back({name, std::move(value)});
  } else {
    leaf.node.args.push_back({name, builder.argument(cell)});
  }
  return true;
}

/// Whether it is BatchNorm(momentum=None), which averages over all batches. Its program then has
/// the momentum 0, which is correct only in eval mode.
bool averages_all_batches(const Ref& self, const LeafCall& leaf) {
  if (leaf.module.op != "aten::batch_norm") return false;
  const ir::Value* training = leaf.module.attribute("training");
  if (!training || training->kind() != ir::Value::Kind::training) return false;
  const auto type = self->value.toObjectRef().type();
  const auto momentum = type->findConstant("momentum");
  const auto batches = type->findAttributeSlot("num_batches_tracked");
  return momentum && momentum->isNone() && batches &&
         self->value.toObjectRef().getSlot(*batches).isTensor();
}

}  // namespace

std::string class_name(const c10::IValue& module) {
  const auto name = module.toObjectRef().type()->name();
  return name ? demangled(name->qualifiedName()) : "";
}

LeafCall empty_leaf(const Ref& self, std::string op) {
  LeafCall leaf;
  leaf.module.path = self->path;
  leaf.module.class_name = class_name(self->value);
  leaf.module.op = std::move(op);
  leaf.node.kind = ir::NodeKind::call_module;
  leaf.node.target = self->path;
  leaf.node.op = leaf.module.op;
  return leaf;
}

std::optional<LeafCall> leaf_of(const Ref& self, const OpCall& call, Builder& builder) {
  LeafCall leaf = empty_leaf(self, call.op);
  for (const auto& [name, cell] : call.args) {
    if (!add_argument(leaf, name, cell, builder)) return std::nullopt;
  }
  if (leaf.node.args.empty()) return std::nullopt;
  if (averages_all_batches(self, leaf)) {
    for (ir::Argument& attribute : leaf.module.attributes)
      if (attribute.name == "momentum") attribute.value = {};
  }
  return leaf;
}

LeafCall identity_leaf(const Ref& self, const Ref& input, Builder& builder) {
  LeafCall leaf = empty_leaf(self, "mase::identity");
  leaf.node.args.push_back({"self", builder.argument(input)});
  return leaf;
}

}  // namespace mase::libtorch
