// SPDX-License-Identifier: Apache-2.0
// Tables of costs over several variables, and the elimination of a variable from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mase::sharding {

/// Costs for all choices of some variables, in row-major order.
struct CostTable {
  std::vector<std::size_t> variables;  ///< in ascending order
  std::vector<double> costs;
};

/// The sizes of the variables' choices, by variable.
using ChoiceCounts = std::vector<std::size_t>;

/// What is left of a variable: its best choice for all choices of its neighbours.
struct Eliminated {
  std::size_t variable = 0;
  std::vector<std::size_t> neighbours;  ///< in ascending order
  std::vector<std::uint16_t> best;      ///< in row-major order
};

/// Takes a variable out of tables, all of which have it. Returns the table of its neighbours, and
/// stores the best choices.
CostTable eliminate(std::size_t variable, const std::vector<const CostTable*>& tables,
                    const ChoiceCounts& counts, Eliminated& result);

/// The place of the choices of `variables` in a table of them.
std::size_t place_of(const std::vector<std::size_t>& variables, const ChoiceCounts& counts,
                     const std::vector<std::size_t>& choices);

}  // namespace mase::sharding
