// SPDX-License-Identifier: Apache-2.0
// Plan: everything that workers of one study have to agree on, and what they call to evaluate.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "search/samplers/sampler.hpp"
#include "search/spaces/search_space.hpp"
#include "search/storage/storage.hpp"

namespace mase::search {

/// Called by a trial that trains, with a step and its value; throws Pruned when the trial is to
/// stop.
using Report = std::function<void(std::int64_t step, double value)>;

/// Thrown through the evaluation by Report.
struct Pruned {};

/// Key of a plan's configuration: the space's first choice, which has what is fixed beside the
/// parameters.
constexpr const char* first_choice_key = "first_choice";

/// What all workers of a study have in common.
struct Plan {
  Options options;
  const SearchSpace* space = nullptr;
  std::uint64_t seed = 0;
  std::string url, study;
  /// What must be the same for all who work on the study: space, metrics, seed, data ... Which
  /// sampler chose which trials is kept beside it (sampler_turns.hpp).
  Tree configuration;
  /// Measures the model of these parameters; called by several threads at once.
  std::function<Measured(const samplers::Params& params, const Report& report)> evaluate;
  /// Whether equal parameters give equal measurements and nothing is reported on the way, so that a
  /// configuration that was measured need not be measured again.
  bool repeatable = false;
  /// Whether ten failures in a row, for the same reason and before any success, end the run.
  bool gives_up = false;
  /// Makes the parameter sets (external values by name) to try before any others, the same for
  /// every worker; nothing when `stop` came first. Empty: there are none.
  std::function<std::optional<std::vector<Tree>>(const std::atomic<bool>& stop)> enqueue;
  /// What `enqueue` made: each is tried by the first trial that finds it untried.
  std::vector<Tree> first;

  /// A connection of the caller's own to the database of the study.
  std::unique_ptr<storage::Storage> open() const {
    return storage::open_storage(url, options.setup.storage_timeout);
  }
  samplers::Problem problem() const { return {space->dimensions(), options.directions(), seed}; }
};

/// Told of every trial that this process finished; called by one thread at a time.
using OnTrial = std::function<void(const storage::Record& record)>;

/// Opens the study or begins it. Error(Fault::config) that shows the differences when the study
/// exists with another configuration.
storage::Study open_study(storage::Storage& storage, const Plan& plan);

/// Runs trials until the study has n_trials, the time is over or `stop` is set; running trials are
/// finished then. Also waits for the trials of other workers, and takes over those of dead ones.
/// Returns the reason where it gave up, else "".
std::string run_workers(const Plan& plan, const OnTrial& on_trial, const std::atomic<bool>& stop);

}  // namespace mase::search
