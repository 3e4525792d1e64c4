// SPDX-License-Identifier: Apache-2.0
// Comparing a graph's nodes with torch.fx's node table.
#pragma once

#include <string>
#include <vector>

#include "torch/fixtures.hpp"

namespace mase::test {

/// What differs, one line "SIGN COUNT op target" per kind of node, "-" for nodes that only torch.fx
/// has and "+" for nodes that only we have, by a longest common subsequence over (op, target); and
/// "~ 1 op name" for equal nodes with other names. Counters of names (add_3) are not compared for
/// functions and methods that occur in a difference.
std::vector<std::string> fx_differences(const std::vector<FxNode>& fx,
                                        const std::vector<FxNode>& ours);

}  // namespace mase::test
