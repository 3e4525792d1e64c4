// SPDX-License-Identifier: Apache-2.0
// The tensors that a node reads, whether other nodes compute them or the model holds them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.hpp"

namespace mase::sharding {

/// One tensor that a node reads, or one list of tensors.
struct Operand {
  std::string argument;             ///< the operator's name: "input", "weight", "self"
  std::string name;                 ///< the metadata's name: "data_in_0", "weight"
  ir::NodeId source = ir::no_node;  ///< the node that computes it; none for what the model holds
  std::string tensor;               ///< the path of what the model holds
  ir::NodeId reader = ir::no_node;  ///< the get_attr node that reads this path, if one does
  ir::ValueInfo info;

  bool is_stored() const { return !tensor.empty(); }
  const Shape& shape() const;  ///< of a list, that of its first tensor
};

/// The operands in the order of the arguments; those of a layer's own come last.
std::vector<Operand> operands_of(const ir::Graph& graph, const ir::Node& node);

/// The shape of a result, of a list that of its first tensor; nullptr for a number.
const Shape* shape_of(const ir::ValueInfo& info);

/// The dimension that has the batch in the sequences of a recurrent layer or function; nothing for
/// other nodes, and where sequences are packed or there is only one. States, which are the further
/// results, have it in dimension `batch_of_states`.
std::optional<std::size_t> batch_of_sequences(const ir::Graph& graph, const ir::Node& node);
inline constexpr std::size_t batch_of_states = 1;

}  // namespace mase::sharding
