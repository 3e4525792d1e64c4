// SPDX-License-Identifier: Apache-2.0
// The operators that a model may run. LibTorch does not check the arguments of all of its
// operators: some read or write outside of tensors, or never end. So nothing runs that has no name
// here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.hpp"

namespace mase::ir {

/// Whether a model may run an operator ("aten::add.Tensor", and "aten::add_.Tensor" with it): one
/// of the op table, of the list of this room, of the program's own ("mase::..."), or one that the
/// user has allowed.
bool is_allowed(std::string_view op);

/// Allows more operators to every model of this process: "aten::bincount", or "bincount".
/// Error(Fault::config) for what cannot be the name of one.
void allow_operators(const std::vector<std::string>& names);

/// Why an operator that is not allowed does not run, and what to do.
std::string not_allowed(std::string_view op);

/// Error(Fault::unsupported) with every node of the graph that was read from `file`, those of
/// leaves' bodies too, whose operator is not allowed.
void require_allowed(const Graph& graph, const std::string& file);

/// The names of the list and of the op table, sorted: "aten::abs".
std::vector<std::string> allowed_operators();
/// The names of the list alone, as they stand there.
std::vector<std::string> listed_operators();

}  // namespace mase::ir
