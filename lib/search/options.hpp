// SPDX-License-Identifier: Apache-2.0
// The `[search]` table of a configuration as structs. It is checked before anything runs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/field.hpp"
#include "search/own_metrics/own_metrics.hpp"
#include "search/runners/runners.hpp"
#include "search/samplers/prune.hpp"
#include "search/samplers/row_names.hpp"
#include "search/samplers/sampler.hpp"

namespace mase::search {

using samplers::one_of_names;

/// All values of `by` that any space has, from the table of spaces.
std::vector<std::string_view> space_choices_by();

/// The `setup` of a search space.
struct SpaceSetup {
  std::string by = "name";
  std::string weights = "random";
  double noise = 0;
  static auto fields() {
    using S = SpaceSetup;
    return std::tuple{
        one_of_names(Field{"by", &S::by, "make a choice per node, per op type, or one for all"},
                     space_choices_by()),
        Field{"weights", &S::weights, "weights of scaled layers: new or inherited"}.one_of(
            "random", "inherit"),
        Field{"noise", &S::noise, "relative noise on the weights of copied channels"}.between(0,
                                                                                              1)};
  }
};

/// The table `[search.strategy.setup]`.
struct Setup {
  static constexpr const char* none = "none";
  int n_jobs = 1;
  int n_trials = 20;
  std::optional<double> timeout;
  std::string sampler = "tpe";
  bool sum_scaled_metrics = false;
  std::optional<std::string> direction;
  bool deterministic = false;
  int batch = 8;
  std::optional<std::string> storage, study, store;
  double heartbeat = 10, storage_timeout = 60;
  std::int64_t max_configurations = 100000;
  std::string pruner = none, enqueue = none;
  std::optional<std::string> pkl_ckpt;
  int save_every_n_trials = 10;
  int confirm = 10;

  bool prunes() const { return pruner != none; }
  /// Whether parameter sets are enqueued before the first trial.
  bool enqueues() const;
  /// The sampler's row in the table. Error(Fault::internal) if the table has no such sampler.
  const samplers::SamplerRow& sampler_row() const;

  static auto fields() {
    using S = Setup;
    return std::tuple{
        Field{"n_jobs", &S::n_jobs, "trials evaluated at once by this process"}.between(1, 1024),
        Field{"n_trials", &S::n_trials,
              "total trials of the study, including those of earlier runs and other workers"}
            .at_least(1),
        Field{"timeout", &S::timeout, "seconds after which no trial starts"}.at_least(0),
        one_of_names(Field{"sampler", &S::sampler, "algorithm that chooses the next trial"},
                     samplers::sampler_names()),
        Field{"sum_scaled_metrics", &S::sum_scaled_metrics,
              "use one objective, the sum of all scaled metrics, instead of one per metric"}
            .rare(),
        Field{"direction", &S::direction, "direction in which the sum improves"}
            .one_of("minimize", "maximize")
            .rare(),
        Field{"deterministic", &S::deterministic,
              "ask in fixed batches: any number of workers, stopped or not, runs the same trials"}
            .rare(),
        Field{"batch", &S::batch, "trials per batch; at most this many workers have work"}
            .between(1, 4096)
            .rare(),
        Field{"storage", &S::storage,
              "database: sqlite:///FILE or postgresql://...; default: study.db in the project"},
        Field{"study", &S::study, "name of the study in the database; default: the project's name"},
        Field{"store", &S::store,
              "s3://BUCKET/PREFIX, which gets the best points and the results for all hosts"}
            .rare(),
        Field{"heartbeat", &S::heartbeat,
              "seconds between heartbeats; a worker silent for six times that counts as dead"}
            .between(0.05, 86400)
            .rare(),
        Field{"storage_timeout", &S::storage_timeout,
              "seconds to wait for a database that is locked or unreachable"}
            .between(0, 86400)
            .rare(),
        Field{"max_configurations", &S::max_configurations,
              "maximum number of configurations that grid and bruteforce try"}
            .at_least(1)
            .rare(),
        Field{"pruner", &S::pruner, "method that stops trials which train and fall behind"}
            .one_of(none, "median")
            .rare(),
        one_of_names(
            Field{"enqueue", &S::enqueue, "exact method whose solutions are the first trials"}
                .one_of(none)
                .rare(),
            samplers::sampler_names(samplers::StudyLength::as_enqueued)),
        Field{"confirm", &S::confirm,
              "number of best trials to measure on the test rows, which the search does not see"}
            .at_least(0)
            .rare(),
        Field{"pkl_ckpt", &S::pkl_ckpt, "pickled study; refused: studies are in a database"}.rare(),
        Field{"save_every_n_trials", &S::save_every_n_trials, "no effect: each trial is saved"}
            .at_least(1)
            .rare()};
  }
};

/// A search space: the whole of `[search.search_space]`, or one of its named parts.
struct SpaceOptions {
  std::string name;  ///< name of a row in the table of spaces
  SpaceSetup setup;
  Tree seed = Tree::dict();
  SourceLocation where;  ///< for messages about the whole table
};

/// The whole `[search]` table.
struct Options {
  std::vector<SpaceOptions> spaces;  ///< at least one; several are searched together
  Setup setup;
  Tree sampler_options = Tree::dict();
  samplers::MedianPruner pruner;
  Runners runners;
  std::vector<Goal> goals;  ///< in alphabetical order, as the reference orders objectives
  std::vector<Constraint> constraints;
  Tree prepare = Tree::dict();  ///< passes run once before the search: NAME → options
  OwnMetrics own;               ///< the metrics of the user's own, needed or not

  /// One direction per objective of the study.
  std::vector<Direction> directions() const;
  /// The objective values for the measured metrics: the scaled metrics, or their sum.
  std::vector<double> values_of(const Measured& measured) const;
  /// The metrics that goals and constraints name, and all that their sums consist of.
  std::set<std::string> needed_metrics() const;
  /// The user's own metrics that measure these.
  std::vector<const OwnMetric*> needed_own() const;
  /// Those of them that are programs.
  std::vector<const OwnMetric*> needed_programs() const;
};

/// Reads the table. Every problem becomes a diagnostic at its place, including invalid constraints
/// and metrics that no runner delivers. `own` are the metrics of the table [metrics].
Options read_options(const Tree& search, Diagnostics& diagnostics, OwnMetrics own = {});

}  // namespace mase::search
