// SPDX-License-Identifier: Apache-2.0
// A choice of one fold per step that fits resource limits, from the choice of a relaxation's
// prices: what answers when there are too many sums of options to add up.
#pragma once

#include <optional>
#include <vector>

#include "hardware/design/folding/fold_relaxation.hpp"

namespace mase::design {

/// Options exchanged one at a time: those that save most of what is short for their price, until
/// the sum fits, then those that make it smaller. Nothing when that ends outside of the limits,
/// which proves nothing.
std::optional<FoldOptions> repaired(const std::vector<FoldOptions>& steps, const Limits& limits,
                                    const Relaxation& relaxation);

}  // namespace mase::design
