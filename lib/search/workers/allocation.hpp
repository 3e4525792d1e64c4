// SPDX-License-Identifier: Apache-2.0
// Allocation: every layer's choices measured alone once, then the exact best mix for a ladder of
// budgets.
#pragma once

#include <functional>
#include <vector>

#include "search/workers/plan.hpp"

namespace mase::search {

/// Parameter sets (external values by name), one for each of at most `count` budgets between the
/// cheapest and the dearest mix, each once.
///
/// Each layer's configurations are measured with the other layers left as they are in the original
/// (`measure` gets parameters of one layer only): the rise of the loss, and the change of the one
/// hardware metric among the goals, are taken to add up over layers. For each budget of that metric
/// the mix of least added loss is found exactly (samplers::allocate). Error(Fault::config) when the
/// goals have no or several such metrics, no loss is measured, or a layer has more than
/// `max_configurations` configurations.
std::vector<Tree> allocations(
    const Options& options, const SearchSpace& space, std::size_t count,
    const std::function<Measured(const samplers::Params& params)>& measure);

}  // namespace mase::search
