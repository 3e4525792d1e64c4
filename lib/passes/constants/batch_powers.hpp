// SPDX-License-Identifier: Apache-2.0
// How the sizes in a graph depend on the batch.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ir/dimension_map.hpp"
#include "ir/op_table.hpp"

namespace mase::passes {

/// The power in a size c * batch^power, where c depends only on the inputs' other dimensions;
/// nullopt when the size could not be shown to have this form.
using Power = std::optional<int>;
using Powers = std::vector<Power>;

/// Computes the powers of the sizes in a graph. The batch is the size of dimension 0 of the first
/// tensor among the inputs, and of every other input whose dimension 0 was equal in the trace. The
/// family of an op gives the powers; for an op without a rule they are unknown.
class BatchPowers {
 public:
  explicit BatchPowers(const ir::Graph& graph);

  /// The batch of the trace; 0 when no input has dimensions.
  std::int64_t batch() const { return batch_; }
  /// The powers of a tensor's dimensions (for a list, of each tensor's); one for a host integer.
  const Powers& of(ir::NodeId id) const { return powers_.at(id); }

 private:
  Powers find(const ir::Node& node) const;
  bool has_fixed_values(const ir::Node& node) const;
  Powers input(const ir::Node& node) const;
  Powers number(const ir::Node& node) const;
  Powers tensor(const ir::Node& node, const ir::Classified& what) const;

  // Rules of families: batch_powers_of_layers.cpp.
  Powers same(const ir::Node& node) const;
  Powers broadcast(const ir::Node& node) const;
  Powers broadcast(const std::vector<ir::NodeId>& operands) const;
  Powers first_kept(const ir::Node& node) const;
  Powers rows_of(const ir::Node& node, std::string_view data) const;
  Powers product(const ir::Node& node) const;
  Powers attended(const ir::Node& node) const;

  // Rules of shapes: batch_powers_of_shapes.cpp.
  Powers reshaped(const ir::Node& node, const std::string& op) const;
  Powers mapped(const ir::Node& node) const;
  Powers squeezed(const ir::Node& node) const;
  Powers viewed(const ir::Node& node, const ir::Value* sizes) const;
  Powers flattened(const ir::Node& node) const;
  Powers expanded(const ir::Node& node) const;
  Powers joined(const ir::Node& node) const;
  Powers chosen(const ir::Node& node, const std::string& op) const;
  Powers repeated(const ir::Node& node) const;
  Powers item(const ir::Node& node) const;
  std::vector<ir::NodeId> leading_tensors(const ir::Value::List& choices) const;
  Power sliced(Power whole, const ir::Value& slice) const;
  Powers cut(const ir::Node& node) const;
  Powers created(const ir::Node& node) const;
  Powers ranged(const ir::Node& node) const;
  Powers padded(const ir::Node& node) const;
  Powers differences(const ir::Node& node) const;

  Powers unknown(const ir::Node& node) const;
  Powers of_first(const ir::Node& node) const;
  Power of_value(const ir::Value& value) const;

  const ir::Graph& graph_;
  std::int64_t batch_ = 0;
  std::map<ir::NodeId, Powers> powers_;
  std::set<ir::NodeId>
      fixed_;  ///< tensors whose values depend on neither the inputs' nor the batch
};

/// True when an op of LibTorch does not change its arguments. (Import refuses ops whose results are
/// random or come from outside.)
bool is_function(const ir::Node& node);

}  // namespace mase::passes
