// SPDX-License-Identifier: Apache-2.0
// Leaf layers: one operator with its constants and tensors, as a Module and the node that calls it.
#pragma once

#include <optional>
#include <string>

#include "ir/graph.hpp"
#include "torch/import/builder.hpp"

namespace mase::libtorch {

/// A layer that stays one node, and the call of it.
struct LeafCall {
  ir::Module module;
  ir::Node node;
};

/// The Python class of a module object: "torch.nn.modules.linear.Linear".
std::string class_name(const c10::IValue& module);

/// A leaf at the module's path without arguments.
LeafCall empty_leaf(const Ref& self, std::string op);
/// A layer that runs `call` on its inputs; nothing when it uses another module's tensors.
std::optional<LeafCall> leaf_of(const Ref& self, const OpCall& call, Builder& builder);
/// A layer that returns its input.
LeafCall identity_leaf(const Ref& self, const Ref& input, Builder& builder);

}  // namespace mase::libtorch
