// SPDX-License-Identifier: Apache-2.0
// The loops of an operator that several devices can share, one rule per family of ops.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sharding/operands.hpp"

namespace mase::sharding {

/// How an operand takes part when a loop is shared.
inline constexpr int whole_operand = -1;  ///< every device reads all of it
inline constexpr int once_operand = -2;   ///< it is added once: the first device alone has it

/// A loop that devices can share: the dimension of each operand that it runs over (or one of the
/// words above), and that of the result. Without one the results are addends of a sum. The parts
/// have equal sizes in all these dimensions; if the loop has other units, such as the groups of a
/// convolution, the number of parts also divides `units`.
struct Split {
  std::vector<int> operands;
  std::optional<std::size_t> result;
  std::int64_t units = 0;
};

using Splits = std::vector<Split>;

/// The loops of a node that can be shared. An op without a rule has none, so every device computes
/// all of it.
Splits splits_of(const ir::Graph& graph, const ir::Node& node,
                 const std::vector<Operand>& operands);

}  // namespace mase::sharding
