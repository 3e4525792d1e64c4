// SPDX-License-Identifier: Apache-2.0
// Asker finds the parameters of a trial from the study, in batches that do not depend on the number
// of workers.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "search/workers/known_trials.hpp"
#include "search/workers/sampler_turns.hpp"

namespace mase::search {

/// Converts a set of external values to parameters.
samplers::Params set_params(const samplers::Space& space, const Tree& set);

/// Asks the sampler for the next trial, one by one or in batches.
class Asker {
 public:
  explicit Asker(const Plan& plan);

  /// Sets which sampler chooses which trials. Before the first call, it is the plan's sampler.
  void follow(std::vector<SamplerTurn> turns);

  /// Suggests parameters for `record`, which is running. In deterministic mode, returns nothing
  /// unless the trials of earlier batches are finished; earlier trials of the same batch count as
  /// running with their parameters. So the answer depends on numbers, never on time.
  /// If one of these trials already has the parameters, asks again a few times.
  std::optional<samplers::Suggestion> ask(const std::vector<storage::Record>& records,
                                          const storage::Record& record);

  /// The trials whose results the record may use: those of earlier batches in deterministic mode,
  /// otherwise all others. Valid until the next call.
  std::span<const samplers::Trial> known(const std::vector<storage::Record>& records,
                                         const storage::Record& record);

  /// The first complete trial with the same parameters as the record, among those whose results the
  /// record may use; otherwise nullptr.
  const storage::Record* measured_before(const std::vector<storage::Record>& records,
                                         const storage::Record& record);

 private:
  /// The first trial whose results trial `number` may not use.
  std::int64_t first_unknown(std::int64_t number) const;
  std::optional<samplers::Suggestion> ask_in_batch(const std::vector<storage::Record>& records,
                                                   const storage::Record& record);
  /// Asks the sampler with the view of `known_` as the history.
  samplers::Suggestion suggest(const storage::Record& record);
  samplers::Suggestion attempt(const SamplerTurn& turn, std::int64_t number, std::size_t attempt);
  std::int64_t batch_start(std::int64_t number) const;
  const SamplerTurn& turn_of(std::int64_t number) const;
  samplers::Sampler& sampler(const SamplerTurn& turn, std::size_t attempt);
  const Tree* untried(std::int64_t number);

  const Plan& plan_;
  std::vector<SamplerTurn> turns_;
  /// Samplers by the first trial of their turn and by attempt. Each attempt has its own seed.
  std::map<std::pair<std::int64_t, std::size_t>, std::unique_ptr<samplers::Sampler>> samplers_;
  KnownTrials known_;
  /// A set that the plan tries first, and how far the search for it has got.
  struct First {
    samplers::Params params;
    KnownTrials::Progress progress;
  };
  std::vector<First> first_;
};

}  // namespace mase::search
