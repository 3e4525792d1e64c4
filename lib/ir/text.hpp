// SPDX-License-Identifier: Apache-2.0
// The text form of a graph: printed, parsed back to the same graph, compared, diffed and dumped.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "ir/graph.hpp"

namespace mase::ir {

/// What the text form shows.
struct PrintOptions {
  bool metadata = true;  ///< one `| common = {...}` line (JSON) per part and node
};

/// Tensors are printed as dtype, shape and role, not as values.
std::string print(const Graph& graph, const PrintOptions& options = {});

/// Parses the text form; tensors are zero-filled and get their values from the caller.
/// Error(Fault::file) with origin:line:column for anything wrong, also for tensors of more than
/// `most_bytes` in all: the text may be damaged.
Graph parse(std::string_view text, const std::string& origin,
            std::size_t most_bytes = std::size_t{4} << 30);

std::string print(const Graph& graph, const Value& value);
std::string print(const ValueInfo& info);

}  // namespace mase::ir
