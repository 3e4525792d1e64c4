// SPDX-License-Identifier: Apache-2.0
// The values of nodes on the host: sizes, arithmetic on sizes, and lists of both.
#pragma once

#include <map>
#include <optional>

#include "ir/inference.hpp"

namespace mase::ir {

/// Computes values that do not depend on the elements of tensors.
class HostValues {
 public:
  HostValues(const Graph& graph, const KnownResults& known) : graph_(graph), known_(known) {}

  /// The value with those of nodes in place of references; nullopt if one of them is unknown.
  std::optional<Value> of(const Value& value);
  /// The value of a node's result from its arguments.
  std::optional<Value> result(const Node& node);

 private:
  std::optional<Value> of_node(NodeId id);
  std::optional<Value> size(const Node& node, const ValueInfo& tensor);
  std::optional<Value> item(const Node& node);

  const Graph& graph_;
  const KnownResults& known_;
  std::map<NodeId, std::optional<Value>> found_;
  int depth_ = 0;
};

}  // namespace mase::ir
