// SPDX-License-Identifier: Apache-2.0
// The names of trial states.
#include "search/samplers/trial.hpp"

#include "base/error.hpp"

namespace mase::samplers {

std::string_view state_name(TrialState state) {
  switch (state) {
    case TrialState::running:
      return "RUNNING";
    case TrialState::complete:
      return "COMPLETE";
    case TrialState::pruned:
      return "PRUNED";
    case TrialState::fail:
      return "FAIL";
    case TrialState::waiting:
      return "WAITING";
  }
  MASE_CHECK(false, "a trial has no known state");
}

Trial without_attributes(const Trial& trial) {
  Trial copy;
  copy.number = trial.number;
  copy.state = trial.state;
  copy.params = trial.params;
  copy.values = trial.values;
  copy.violation = trial.violation;
  copy.intermediate = trial.intermediate;
  return copy;
}

}  // namespace mase::samplers
