// SPDX-License-Identifier: Apache-2.0
// Trial: an evaluated point of a search, as samplers and pruners see it.
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

/// A trial: its parameters and its outcome.
struct Trial {
  std::int64_t number = 0;
  TrialState state = TrialState::running;
  Params params;
  std::vector<double>
      values;            ///< one per objective if complete; the last report if pruned; else empty
  double violation = 0;  ///< total violation of all constraints; 0 if feasible
  std::map<std::int64_t, double> intermediate;  ///< reported values by step
  Tree attributes = Tree::dict();               ///< system attributes
};

/// A copy without attributes, which other trials do not depend on; it saves memory.
Trial without_attributes(const Trial& trial);

}  // namespace mase::samplers
