// SPDX-License-Identifier: Apache-2.0
// Which nodes of a graph compute the same whatever its inputs hold.
#pragma once

#include <map>

#include "passes/constants/batch_powers.hpp"
#include "passes/constants/size_read.hpp"

namespace mase::passes {

enum class Constancy {
  varies,   ///< depends on the inputs' values or on training, or that could not be ruled out
  numbers,  ///< a tensor [batch, 1, ...] of the rows' numbers, 0, 1, ...
  rows,     ///< a tensor [batch, ...] of equal rows that are fixed; on the host, the batch itself
  fixed,    ///< the same for all inputs of the traced sizes, whatever their batch
};

/// Operators outside of the op table that work on each element by itself, with broadcasting.
bool is_logical(std::string_view op);

/// Of every node. What reads no input's values is the same for all of them, whichever op computes
/// it: import refuses those whose results are random or come from outside. Custom ops, dropout,
/// whatever asks for the training flag or works in place, attention and recurrent layers vary, and
/// so do nodes with formats. Rows are equal
/// where `expand`, `repeat` or a constant of the batch's size make them, and behind ops whose
/// results have the same bits however many rows there are: tables, copies, elementwise arithmetic,
/// slices and running sums of each row, and equal rows that are indexed by their numbers.
class ConstantNodes {
 public:
  /// `parameters`: whether tensors that are trained count as constants, too.
  ConstantNodes(const ir::Graph& graph, const BatchPowers& powers, bool parameters);

  Constancy of(ir::NodeId id) const { return constancy_.at(id); }
  /// An expand or repeat of what is fixed: all that it does is to make rows.
  bool makes_rows(const ir::Node& node) const;

 private:
  Constancy judge(const ir::Node& node) const;
  Constancy judge_sizes(const SizeRead& read) const;
  Constancy judge_shape(ir::NodeId tensor) const;  ///< of what has the shape of a tensor
  bool is_stored(const std::string& path) const;
  bool is_pure(const ir::Node& node, const ir::Classified& what) const;

  // Of nodes that read rows: constant_rows.cpp.
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
  bool has_tensor(const ir::Value& value) const;
  bool is_rows(const ir::Value& value) const;  ///< a tensor
  bool is_batch(const ir::Value& value) const;
  bool has_one_row(ir::NodeId id, std::size_t rank) const;

  const ir::Graph& graph_;
  const BatchPowers& powers_;
  bool parameters_;
  std::map<ir::NodeId, Constancy> constancy_;
};

}  // namespace mase::passes
