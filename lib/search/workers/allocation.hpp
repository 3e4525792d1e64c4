// SPDX-License-Identifier: Apache-2.0
// Allocation measures every layer's choices separately once, then finds the exact best mix for a
// series of budgets.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "search/workers/plan.hpp"

namespace mase::search {

/// Called after every measurement, with the number done and the total.
using OnMeasured = std::function<void(std::int64_t done, std::int64_t of)>;

/// The solutions, and the measurements that they are based on.
struct Allocations {
  std::vector<Tree> sets;  ///< external values by name, one set per budget
  std::string metric;      ///< the metric whose sum the budgets bound
  /// {"layer", "parameters", "loss", "cost"} per choice: its effect alone on the original model;
  /// infinite if it could not be measured.
  Tree sensitivity = Tree::list();
};

/// Error(Fault::config) unless the goals have exactly one hardware metric, a loss is measured, and
/// the costs of the space's layers add up.
void check_allocation(const Options& options, const SearchSpace& space);

/// Different parameter sets, one for each of at most `count` budgets between the cheapest and the
/// dearest mix. Returns nothing if `stop` or the time limit came before all measurements were done.
///
/// Each layer's configurations are measured with the other layers unchanged (the plan's `evaluate`
/// gets the parameters of only one layer). The increase of the loss, and the change of the hardware
/// metric among the goals, are assumed to add up over the layers. The measurements are trials of a
/// separate study, `STUDY:sensitivity`, in the same database, so that all workers share them and
/// none is lost. For each budget, samplers::allocate finds the mix with the smallest added loss
/// exactly, so every worker gets the same sets. Error(Fault::config) as in `check_allocation`, and
/// if a layer has too many configurations.
std::optional<Allocations> allocations(const Plan& plan, std::size_t count,
                                       const OnMeasured& on_measured,
                                       const std::atomic<bool>& stop);

}  // namespace mase::search
