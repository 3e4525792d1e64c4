// SPDX-License-Identifier: Apache-2.0
// The methods of exported leaf modules: one for every way in which a layer is called.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/graph.hpp"
#include "ir/masks.hpp"
#include "torch/export/method.hpp"
#include "torch/export/tree.hpp"

namespace mase::libtorch {

/// Writes the methods of the layers of a module tree.
class LeafMethods {
 public:
  /// All must outlive this object; methods are added to the tree's modules.
  LeafMethods(const ir::Graph& graph, const ir::Masks& masks, ModuleTree& tree)
      : graph_(graph), masks_(masks), tree_(tree) {}

  /// Calls the layer of a call_module node from `top`. Its formats are applied inside the method,
  /// which is made at the first call of its kind.
  MethodBuilder::JitValue* call(const ir::Node& node, MethodBuilder& top,
                                const MethodBuilder::NodeLookup& lookup);

 private:
  /// A method of a leaf: its name and result type.
  struct Method {
    std::string name;
    c10::TypePtr result;
  };
  const Method& method(const ir::Node& node,
                       const std::vector<MethodBuilder::JitValue*>& arguments);
  /// What makes two calls of a leaf different methods: formats, constants and operand types.
  std::string signature(const ir::Node& node) const;

  const ir::Graph& graph_;
  const ir::Masks& masks_;
  ModuleTree& tree_;
  std::map<std::string, Method> methods_;
  std::map<std::string, int> counts_;
};

}  // namespace mase::libtorch
