// SPDX-License-Identifier: Apache-2.0
// Which nodes of a graph compute the same values whatever its inputs hold.
#pragma once

#include <map>

#include "passes/constants/batch_powers.hpp"
#include "passes/constants/size_read.hpp"

namespace mase::passes {

enum class Constancy {
  varies,   ///< depends, or may depend, on the inputs' values or on training
  numbers,  ///< a tensor [batch, 1, ...] of the row numbers 0, 1, ...
  rows,     ///< a tensor [batch, ...] of equal, fixed rows; on the host, the batch itself
  fixed,    ///< the same for all inputs of the traced sizes, whatever their batch
};

/// Judges every node. A node that reads no input's values computes the same for all inputs,
/// whichever op it is: import refuses ops whose results are random or come from outside. These
/// nodes vary: custom ops, dropout, nodes that read the training flag or work in place, attention
/// and recurrent layers, and nodes with formats. Rows are equal
/// where `expand`, `repeat` or a constant of the batch's size makes them, and after ops whose
/// results have the same bits for any number of rows: tables, copies, elementwise arithmetic,
/// slices and running sums of each row, and equal rows that are indexed by their numbers.
class ConstantNodes {
 public:
  /// With `parameters`, tensors that are trained count as constants, too.
  ConstantNodes(const ir::Graph& graph, const BatchPowers& powers, bool parameters);

  Constancy of(ir::NodeId id) const { return constancy_.at(id); }
  /// True for an expand or repeat of a fixed value, which does nothing but make rows.
  bool makes_rows(const ir::Node& node) const;

 private:
  Constancy judge(const ir::Node& node) const;
  Constancy judge_sizes(const SizeRead& read) const;
  Constancy judge_shape(ir::NodeId tensor) const;  ///< judges a result with the shape of `tensor`
  bool is_stored(const std::string& path) const;
  bool is_pure(const ir::Node& node, const ir::Classified& what) const;

  // Nodes that read rows: constant_rows.cpp.
  Constancy judge_rows(const ir::Node& node) const;
  bool is_numbered(const ir::Node& node) const;
  bool has_equal_rows(const ir::Node& node, const ir::Classified& what) const;
  bool keeps_rows(const ir::Node& node) const;
  bool is_along_others(const ir::Node& node, std::int64_t otherwise) const;
  bool is_chosen_by_number(const ir::Node& node) const;
  bool is_repeated(const ir::Node& node, std::string_view times) const;
  bool is_created(const ir::Node& node) const;
  bool is_looked_up(const ir::Node& node) const;
  bool is_copied(const ir::Node& node) const;
  bool is_elementwise(const ir::Node& node) const;

  bool is_fixed(const ir::Value& value) const;
  bool is_rows(const ir::Value& value) const;  ///< true for a tensor of equal rows
  bool is_batch(const ir::Value& value) const;
  bool has_one_row(ir::NodeId id, std::size_t rank) const;

  const ir::Graph& graph_;
  const BatchPowers& powers_;
  bool parameters_;
  std::map<ir::NodeId, Constancy> constancy_;
};

}  // namespace mase::passes
