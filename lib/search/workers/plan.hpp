// SPDX-License-Identifier: Apache-2.0
// Plan: everything that the workers of a study must agree on, and the functions that they call.
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

/// Called by a trial that trains, with a step and its value. Throws Pruned if the trial should
/// stop.
using Report = std::function<void(std::int64_t step, double value)>;

/// Thrown by Report, through the evaluation.
struct Pruned {};

/// Key in a plan's configuration for the first choice of the space, which includes everything that
/// is fixed in addition to the parameters.
constexpr const char* first_choice_key = "first_choice";

/// System attribute of a study: a text that no other study has.
constexpr const char* id_attribute = "mase:id";

/// The data that all workers of a study share.
struct Plan {
  Options options;
  const SearchSpace* space = nullptr;
  std::uint64_t seed = 0;
  std::string url, study;
  /// The configuration that must be the same for all workers of the study: space, metrics, seed,
  /// data ... It does not include which sampler chose which trials (sampler_turns.hpp).
  Tree configuration;
  /// Measures the model for these parameters. Several threads may call it at once.
  std::function<Measured(const samplers::Params& params, const Report& report)> evaluate;
  /// Whether equal parameters give equal measurements and nothing is reported during a trial, so
  /// that no configuration needs to be measured twice.
  bool repeatable = false;
  /// Whether ten failures in a row for the same reason, before any success, end the run.
  bool gives_up = false;
  /// Makes the parameter sets (external values by name) to try before any others; all workers make
  /// the same ones. Returns nothing if `stop` came first. May be empty.
  std::function<std::optional<std::vector<Tree>>(const std::atomic<bool>& stop)> enqueue;
  /// The sets made by `enqueue`. Each is tried by the first trial that finds it untried.
  std::vector<Tree> first;

  /// Opens a separate connection to the database of the study.
  std::unique_ptr<storage::Storage> open() const {
    return storage::open_storage(url, options.setup.storage_timeout);
  }
  samplers::Problem problem() const { return {space->dimensions(), options.directions(), seed}; }
};

/// Called for every trial that this process finished, by one thread at a time.
using OnTrial = std::function<void(const storage::Record& record)>;

/// Opens the study or creates it. If it exists with another configuration, throws an
/// Error(Fault::config) that shows the differences.
storage::Study open_study(storage::Storage& storage, const Plan& plan);

/// Runs trials until the study has n_trials, the time is over or `stop` is set; running trials are
/// then finished. It also waits for trials of other workers, and takes over those of dead workers.
/// Returns the reason if it gave up, otherwise "".
std::string run_workers(const Plan& plan, const OnTrial& on_trial, const std::atomic<bool>& stop);

}  // namespace mase::search
