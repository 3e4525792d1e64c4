// SPDX-License-Identifier: Apache-2.0
// Reading values, argument lists and result information of the graph's text form.
#pragma once

#include <vector>

#include "ir/graph.hpp"
#include "ir/lexer.hpp"

namespace mase::ir {

/// Reads a value; node references must name nodes that are already in `graph`.
Value parse_value(Lexer& lexer, const Graph& graph, int depth = 0);
/// Reads `name=value, ...` up to and including the closing parenthesis.
std::vector<Argument> parse_arguments(Lexer& lexer, const Graph& graph);
/// Reads `float32[4, 16]`, `int`, `tuple(...)`, ...
ValueInfo parse_info(Lexer& lexer, int depth = 0);

}  // namespace mase::ir
