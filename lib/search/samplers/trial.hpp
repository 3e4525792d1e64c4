// SPDX-License-Identifier: Apache-2.0
// Trial: one evaluated point of a search, as samplers and pruners see it.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "base/tree.hpp"
#include "search/samplers/space.hpp"

namespace mase::samplers {

enum class Direction { minimize, maximize };
enum class TrialState { running, complete, pruned, fail, waiting };
std::string_view state_name(TrialState state);  ///< Optuna's words: "RUNNING", "COMPLETE", ...

/// One try: its parameters, and what became of it.
struct Trial {
  std::int64_t number = 0;
  TrialState state = TrialState::running;
  Params params;
  std::vector<double>
      values;            ///< one per objective; empty unless complete (or pruned: the last report)
  double violation = 0;  ///< by how much all constraints are missed together; 0: feasible
  std::map<std::int64_t, double> intermediate;  ///< reported values by step
  Tree attributes = Tree::dict();               ///< system attributes
};

/// All that decides about others: a copy for those who keep many.
Trial without_attributes(const Trial& trial);

}  // namespace mase::samplers
