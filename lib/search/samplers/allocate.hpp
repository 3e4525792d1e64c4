// SPDX-License-Identifier: Apache-2.0
// Allocation: one choice for each of several layers, at least loss within budgets, exactly.
#pragma once

#include <optional>
#include <vector>

namespace mase::samplers {

/// A choice for every layer, with the least sum of losses within budgets, is asked for.
struct Allocation {
  /// loss[i][j]: what choice j of layer i adds to the objective, which is minimised. Infinity, here
  /// or in a cost, forbids the choice.
  std::vector<std::vector<double>> loss;
  /// One per budget: cost[i][j] of that choice, and the bound of the sum over layers.
  struct Budget {
    std::vector<std::vector<double>> cost;
    double bound = 0;
  };
  std::vector<Budget> budgets;
};

/// The best choice of every layer (multiple-choice knapsack, solved as a 0/1 program by CBC);
/// nothing when no choice keeps all budgets. The costs of the answer, added in the order of layers
/// as doubles, are within every bound; its loss is the least to 1e-9 of the largest loss.
/// Error(Fault::config) for a layer without choices and for NaN or -inf; Error(Fault::goal) when
/// the solver needs more than 5 minutes.
std::optional<std::vector<std::size_t>> allocate(const Allocation& problem);

}  // namespace mase::samplers
