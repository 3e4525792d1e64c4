// SPDX-License-Identifier: Apache-2.0
// Asker: the parameters of a trial from what the study knows, in batches that do not depend on how
// many workers there are.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "search/workers/sampler_turns.hpp"

namespace mase::search {

/// Whether a trial has all of the parameters of the set (external values), perhaps among others.
bool is_tried(std::span<const samplers::Trial> history, const samplers::Space& space,
              const Tree& set);

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

  /// Results of trials from this number on are not for trial `number` to know.
  std::int64_t first_unknown(std::int64_t number) const;

  /// The trials whose results the record may know: those of earlier batches in deterministic mode,
  /// else all others.
  std::vector<samplers::Trial> known(const std::vector<storage::Record>& records,
                                     const storage::Record& record) const;

 private:
  std::optional<samplers::Suggestion> ask_in_batch(const std::vector<storage::Record>& records,
                                                   const storage::Record& record);
  std::span<const samplers::Trial> others(const std::vector<storage::Record>& records,
                                          const storage::Record& record);
  samplers::Suggestion suggest(std::span<const samplers::Trial> history,
                               const storage::Record& record);
  std::int64_t batch_start(std::int64_t number) const;
  const SamplerTurn& turn_of(std::int64_t number) const;
  samplers::Sampler& sampler(const SamplerTurn& turn, std::size_t attempt);
  const Tree* untried(std::span<const samplers::Trial> history, std::int64_t number) const;

  const Plan& plan_;
  std::vector<SamplerTurn> turns_;
  /// By the first trial of a turn and attempt, each a seed.
  std::map<std::pair<std::int64_t, std::size_t>, std::unique_ptr<samplers::Sampler>> samplers_;
  std::vector<samplers::Trial> history_;  ///< by position in the study; finished ones stay
};

}  // namespace mase::search
