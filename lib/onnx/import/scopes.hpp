// SPDX-License-Identifier: Apache-2.0
// The traces that PyTorch's exporters leave of the module that a node came from.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "onnx/import/containers.hpp"
#include "onnx/model.hpp"

namespace mase::onnx {

/// The module that a node belongs to; both empty for nodes of the root and where nothing is known.
struct Scope {
  std::string path;        ///< "block.0"
  std::string class_name;  ///< "torch.nn.modules.linear.Linear"; "" if not known
};

/// The scope that a node states. torch.onnx.export(dynamo=True) stores paths and classes as
/// metadata; the older exporter names nodes "/block/block.0/MatMul".
Scope scope_of(const Node& node);

/// The scopes of a graph's nodes.
class Scopes {
 public:
  explicit Scopes(const Graph& graph);

  /// The scope that a node states, with the containers that its file leaves out.
  Scope of(const Node& node) const;
  /// How many nodes have the scope of this path, constants aside.
  int nodes_in(const std::string& path) const;
  /// Whether scopes or tensors lie in modules below this path, which layers of torch.nn have not.
  bool has_modules(const std::string& path) const { return parents_.contains(path); }
  const Containers& containers() const { return containers_; }

 private:
  void add_parents(std::string_view path);

  Containers containers_;
  std::unordered_map<std::string, int> counts_;
  std::unordered_set<std::string> parents_;
};

}  // namespace mase::onnx
