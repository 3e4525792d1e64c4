// SPDX-License-Identifier: Apache-2.0
// Allocation: every layer's choices measured alone once, then the exact best mix for a ladder of
// budgets.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "search/workers/plan.hpp"

namespace mase::search {

/// Told of every measurement: how many there are now, and of how many.
using OnMeasured = std::function<void(std::int64_t done, std::int64_t of)>;

/// The answers, and what they rest on.
struct Allocations {
  std::vector<Tree> sets;  ///< external values by name, one for each budget
  std::string metric;      ///< whose sum has the budgets
  /// {"layer", "parameters", "loss", "cost"} per choice: what it alone adds to the model as it is;
  /// infinite where it could not be measured.
  Tree sensitivity = Tree::list();
};

/// Error(Fault::config) when the goals have no or several hardware metrics, no loss is measured, or
/// the costs of the space's layers do not add up.
void check_allocation(const Options& options, const SearchSpace& space);

/// Parameter sets, one for each of at most `count` budgets between the cheapest and the dearest
/// mix, each once; nothing when `stop` or the time limit came before everything was measured.
///
/// Each layer's configurations are measured with the other layers left as they are in the original
/// (the plan's `evaluate` gets parameters of one layer only): the rise of the loss, and the change
/// of the one hardware metric among the goals, are taken to add up over layers. The measurements
/// are trials of a study of their own, `STUDY:sensitivity` in the same database, so that all
/// workers share them and none is lost. For each budget the mix of least added loss is found
/// exactly (samplers::allocate), so every worker comes to the same sets. Error(Fault::config) as
/// `check_allocation` has it, and when a layer has too many configurations.
std::optional<Allocations> allocations(const Plan& plan, std::size_t count,
                                       const OnMeasured& on_measured,
                                       const std::atomic<bool>& stop);

}  // namespace mase::search
