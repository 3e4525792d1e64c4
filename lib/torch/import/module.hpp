// SPDX-License-Identifier: Apache-2.0
// Leaf layers. A leaf is one operator with its constants and tensors: a Module and its call node.
#pragma once

#include <optional>
#include <string>

#include "ir/graph.hpp"
#include "torch/import/builder.hpp"

namespace mase::libtorch {

/// A layer that stays one node, and the node that calls it.
struct LeafCall {
  ir::Module module;
  ir::Node node;
};

/// The Python class of a module object, such as "torch.nn.modules.linear.Linear".
std::string class_name(const c10::IValue& module);

/// Makes a leaf at the module's path, without arguments.
LeafCall empty_leaf(const Ref& self, std::string op);
/// Makes a layer that runs `call` on its inputs; nothing if `call` uses another module's tensors.
std::optional<LeafCall> leaf_of(const Ref& self, const OpCall& call, Builder& builder);
/// Makes a layer that returns its input.
LeafCall identity_leaf(const Ref& self, const Ref& input, Builder& builder);

}  // namespace mase::libtorch
