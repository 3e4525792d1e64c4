// SPDX-License-Identifier: Apache-2.0
// The operators that a model may run. LibTorch does not check the arguments of all of its
// operators: some read or write outside of tensors, or never end. An operator that is not listed
// here does not run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.hpp"

namespace mase::ir {

/// True when a model may run the operator ("aten::add.Tensor", and "aten::add_.Tensor" with it):
/// it is in the op table or in the list of this room, belongs to the program ("mase::..."), or
/// the user has allowed it.
bool is_allowed(std::string_view op);

/// Allows more operators to every model of this process: "aten::bincount", or "bincount".
/// Error(Fault::config) for a text that cannot be an operator's name.
void allow_operators(const std::vector<std::string>& names);

/// Why an operator that is not allowed does not run, and what to do.
std::string not_allowed(std::string_view op);

/// Throws Error(Fault::unsupported) when the graph, which was read from `file`, has nodes (in the
/// bodies of leaves too) whose operator is not allowed. The message names every such node.
void require_allowed(const Graph& graph, const std::string& file);

/// The names of the list and of the op table, sorted: "aten::abs".
std::vector<std::string> allowed_operators();
/// The names of this room's list alone, in its order.
std::vector<std::string> listed_operators();

}  // namespace mase::ir
