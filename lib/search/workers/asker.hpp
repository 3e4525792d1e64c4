// SPDX-License-Identifier: Apache-2.0
// Asker: the parameters of a trial from what the study knows, in batches that do not depend on how
// many workers there are.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "search/workers/known_trials.hpp"
#include "search/workers/sampler_turns.hpp"

namespace mase::search {

/// The parameters of a set of external values.
samplers::Params set_params(const samplers::Space& space, const Tree& set);

/// Asks the sampler for the next trial, alone or in batches.
class Asker {
 public:
  explicit Asker(const Plan& plan);

  /// Who chooses which trials from now on; before the first call it is the plan's sampler.
  void follow(std::vector<SamplerTurn> turns);

  /// Parameters of `record`, which is running. In deterministic mode the trials of earlier batches
  /// must be finished (nothing otherwise), the batch's own earlier ones count as running with the
  /// parameters that they are given too: so the answer depends on numbers, never on time.
  /// Parameters that another of these trials has are asked for again, a few times.
  std::optional<samplers::Suggestion> ask(const std::vector<storage::Record>& records,
                                          const storage::Record& record);

  /// The trials whose results the record may know: those of earlier batches in deterministic mode,
  /// else all others. Valid until the next call.
  std::span<const samplers::Trial> known(const std::vector<storage::Record>& records,
                                         const storage::Record& record);

  /// The first complete trial with the parameters of the record whose results it may know; nullptr
  /// where there is none.
  const storage::Record* measured_before(const std::vector<storage::Record>& records,
                                         const storage::Record& record);

 private:
  /// Results of trials from this number on are not for trial `number` to know.
  std::int64_t first_unknown(std::int64_t number) const;
  std::optional<samplers::Suggestion> ask_in_batch(const std::vector<storage::Record>& records,
                                                   const storage::Record& record);
  /// To the view of `known_`.
  samplers::Suggestion suggest(const storage::Record& record);
  samplers::Suggestion attempt(const SamplerTurn& turn, std::int64_t number, std::size_t attempt);
  std::int64_t batch_start(std::int64_t number) const;
  const SamplerTurn& turn_of(std::int64_t number) const;
  samplers::Sampler& sampler(const SamplerTurn& turn, std::size_t attempt);
  const Tree* untried(std::int64_t number);

  const Plan& plan_;
  std::vector<SamplerTurn> turns_;
  /// By the first trial of a turn and attempt, each a seed.
  std::map<std::pair<std::int64_t, std::size_t>, std::unique_ptr<samplers::Sampler>> samplers_;
  KnownTrials known_;
  /// The sets that the plan tries first, and how far each was looked for.
  struct First {
    samplers::Params params;
    KnownTrials::Progress progress;
  };
  std::vector<First> first_;
};

}  // namespace mase::search
