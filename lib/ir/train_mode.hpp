// SPDX-License-Identifier: Apache-2.0
// Train mode in a graph: nodes that draw random numbers or normalize by a batch's own statistics.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.hpp"

namespace mase::ir {

/// An operator that draws random numbers when its argument `training` is true and its argument
/// `amount` is above zero. An empty name stands for a condition that always holds.
struct DrawingOp {
  std::string_view op, training, amount;
};
/// The row of an operator's base name ("aten::dropout"); null for operators that draw no numbers.
const DrawingOp* drawing_op(std::string_view base);

/// True when a node's operator draws random numbers while a model is trained, as dropout does.
bool may_draw(const Graph& graph, const Node& node);

/// True when a node draws random numbers in eval mode, too: its training flag is the constant
/// `true`, from a trace in train mode or from a function that was called without the flag.
bool always_draws(const Graph& graph, const Node& node);

/// True when any node of the graph always draws.
bool draws_always(const Graph& graph);

/// Sets the arguments of eval mode on the nodes that always draw; returns the nodes' names.
std::vector<std::string> stop_drawing(Graph& graph);

/// True when a norm with running statistics uses those of the batch in eval mode, too.
bool always_normalizes_by_batch(const Graph& graph, const Node& node);

/// Warnings about what a model does in eval mode although it belongs to train mode: one sentence
/// each, with the nodes and the remedy. Empty for most models.
std::vector<std::string> train_mode_warnings(const Graph& graph);

}  // namespace mase::ir
