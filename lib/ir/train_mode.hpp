// SPDX-License-Identifier: Apache-2.0
// Train mode in a graph: nodes that draw random numbers or use a batch's own statistics.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.hpp"

namespace mase::ir {

/// An operator that draws when the argument `training` is true and `amount` is above zero; an empty
/// name stands for a condition that always holds.
struct DrawingOp {
  std::string_view op, training, amount;
};
/// Of a base name, "aten::dropout"; null for operators that draw nothing.
const DrawingOp* drawing_op(std::string_view base);

/// Whether a node's operator draws random numbers while a model is trained, as dropout does.
bool may_draw(const Graph& graph, const Node& node);

/// Whether a node draws random numbers in eval mode, too: its training flag is the constant `true`
/// of a trace in train mode, or of a function that was called without one.
bool always_draws(const Graph& graph, const Node& node);

/// Whether any node does.
bool draws_always(const Graph& graph);

/// Gives the nodes that always draw the arguments of eval mode; returns their names.
std::vector<std::string> stop_drawing(Graph& graph);

/// Whether a norm that has running statistics uses those of the batch in eval mode, too.
bool always_normalizes_by_batch(const Graph& graph, const Node& node);

/// What a model does in eval mode that belongs to train mode, with the nodes and what to do about
/// it, one sentence each; empty for most models.
std::vector<std::string> train_mode_warnings(const Graph& graph);

}  // namespace mase::ir
