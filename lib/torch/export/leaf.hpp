// SPDX-License-Identifier: Apache-2.0
// Writes the methods of exported leaf modules, one for each way in which a layer is called.
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
  /// The arguments must outlive this object. Methods are added to the modules of the tree.
  LeafMethods(const ir::Graph& graph, const ir::Masks& masks, ModuleTree& tree)
      : graph_(graph), masks_(masks), tree_(tree) {}

  /// Calls the layer of a call_module node from `top`. The method applies the formats, and is
  /// written at the first call with its signature.
  MethodBuilder::JitValue* call(const ir::Node& node, MethodBuilder& top,
                                const MethodBuilder::NodeLookup& lookup);

 private:
  /// The name and result type of a leaf's method.
  struct Method {
    std::string name;
    c10::TypePtr result;
  };
  const Method& method(const ir::Node& node,
                       const std::vector<MethodBuilder::JitValue*>& arguments);
  /// Text of the formats, constants and operand types. Calls that differ in it need two methods.
  std::string signature(const ir::Node& node) const;

  const ir::Graph& graph_;
  const ir::Masks& masks_;
  ModuleTree& tree_;
  std::map<std::string, Method> methods_;
  std::map<std::string, int> counts_;
};

}  // namespace mase::libtorch
