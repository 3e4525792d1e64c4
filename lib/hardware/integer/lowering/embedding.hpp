// SPDX-License-Identifier: Apache-2.0
// Whole numbers that choose rows of a table.
#pragma once

#include <optional>

#include "hardware/integer/fixed.hpp"
#include "ir/graph.hpp"

namespace mase::integer {

/// The type of whole numbers that choose rows of a table, if `reader` takes the result of `id` so.
std::optional<FixedType> id_type(const ir::Graph& graph, const ir::Node& reader, ir::NodeId id);

}  // namespace mase::integer
