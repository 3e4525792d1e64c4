// SPDX-License-Identifier: Apache-2.0
// Exact allocation: chooses for each layer, so that the total loss is minimal within budgets.
#pragma once

#include <optional>
#include <vector>

namespace mase::samplers {

/// The problem: find a choice for every layer with the smallest sum of losses within all budgets.
struct Allocation {
  /// loss[i][j] is what choice j of layer i adds to the objective, which is minimised. Infinity,
  /// here or in a cost, forbids the choice.
  std::vector<std::vector<double>> loss;
  /// A budget: cost[i][j] of each choice, and the bound of their sum over the layers.
  struct Budget {
    std::vector<std::vector<double>> cost;
    double bound = 0;
  };
  std::vector<Budget> budgets;
};

/// The best choice for every layer (multiple-choice knapsack, solved as a 0/1 program by CBC), or
/// nothing if no choices satisfy all budgets. The costs of the answer, added as doubles in the
/// order of the layers, are within every bound. Its loss is minimal to 1e-9 of the largest loss.
/// Error(Fault::config) for a layer without choices and for NaN or -inf; Error(Fault::goal) if the
/// solver needs more than 5 minutes.
std::optional<std::vector<std::size_t>> allocate(const Allocation& problem);

}  // namespace mase::samplers
