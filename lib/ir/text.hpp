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

/// The text form; it shows dtype, shape and role of tensors, not their values.
std::string print(const Graph& graph, const PrintOptions& options = {});

/// Parses the text form. Tensors are filled with zeros; the caller sets their values.
/// Error(Fault::file) with origin:line:column for any mistake, and for tensors of more than
/// `most_bytes` in total, since the text may be damaged.
Graph parse(std::string_view text, const std::string& origin,
            std::size_t most_bytes = std::size_t{4} << 30);

std::string print(const Graph& graph, const Value& value);
std::string print(const ValueInfo& info);

}  // namespace mase::ir
