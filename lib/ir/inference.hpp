// SPDX-License-Identifier: Apache-2.0
// Inference: the dtype and shape of every result, by the rules of the operators. It runs nothing
// and needs no LibTorch, so importers use it on graphs of any size.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "ir/graph.hpp"

namespace mase::ir {

/// What is known about the results that a node reads.
class KnownResults {
 public:
  virtual ~KnownResults() = default;
  virtual const ValueInfo& info(NodeId id) const = 0;
  /// The value of an integer on the host (a size, or arithmetic on sizes); nullopt if unknown.
  virtual std::optional<std::int64_t> integer(NodeId id) const = 0;
};

/// The dtype and shape of the node's result, of containers those of their elements, in eval mode.
/// Numbers and dtypes promote as PyTorch promotes them. nullopt for an operator without a rule, and
/// where the shape depends on values that are not known. Error(Fault::file) that names the operator
/// and the operands if they do not fit it.
std::optional<ValueInfo> infer(const Graph& graph, const Node& node, const KnownResults& known);

/// Whether the operator has a rule of its own among those of functions of elements, which operators
/// outside of the op table have too.
bool is_of_elements(std::string_view op);

/// The value of a node that is an integer on the host: a size, or arithmetic on sizes. nullopt for
/// every other node, and if it depends on what is not known.
std::optional<std::int64_t> host_integer(const Graph& graph, const Node& node,
                                         const KnownResults& known);

/// Fills the infos of all nodes in order. Those of the placeholders must be set. Returns the first
/// node whose result cannot be inferred, or no_node; the nodes after it are not changed.
/// Error(Fault::file) that names the node whose operands do not fit it.
NodeId infer_all(Graph& graph);

}  // namespace mase::ir
