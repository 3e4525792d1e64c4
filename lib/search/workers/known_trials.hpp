// SPDX-License-Identifier: Apache-2.0
// KnownTrials: what a trial may know of the others. Finished trials never change, so each is taken
// over once, and what a question costs does not grow with the study.
#pragma once

#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "search/samplers/sampler.hpp"
#include "search/storage/storage.hpp"

namespace mase::search {

/// Whether the trial has all of these parameters, perhaps among others.
bool has_set(const samplers::Trial& trial, const samplers::Params& wanted);

/// Trials of one study, those of a view that is made for each question.
class KnownTrials {
 public:
  /// Makes the view: all trials of the records with numbers below `end`, but the one of this id.
  /// It is valid until the next call. `records` are those of the study, as storage has them.
  std::span<const samplers::Trial> look_at(const std::vector<storage::Record>& records,
                                           std::int64_t end, std::int64_t without);
  /// Adds a trial that is just running to the view.
  void add(samplers::Trial running);

  std::span<const samplers::Trial> view() const { return *view_; }
  samplers::History history() const { return {view(), indexed_}; }
  /// Whether all trials of the view were finished when it was made.
  bool all_finished() const { return all_finished_; }
  /// Whether a trial of the view has these very parameters.
  bool has(const samplers::Params& params) const;
  /// As has_set, for one of the view. `progress` belongs to the set: it begins as {}.
  struct Progress {
    std::size_t looked_at = 0;
    std::optional<std::size_t> found;
  };
  bool has_set(const samplers::Params& wanted, Progress& progress) const;

  /// The first complete trial with these very parameters and a number below `end`; nullptr without.
  const storage::Record* first_complete(const std::vector<storage::Record>& records,
                                        const samplers::Params& params, std::int64_t end);

 private:
  void settle(const std::vector<storage::Record>& records, std::int64_t end);

  std::vector<samplers::Trial> trials_;  ///< the first records, then the rest of the view
  std::vector<samplers::Trial> early_;   ///< a view that ends before all that is settled
  const std::vector<samplers::Trial>* view_ = &trials_;
  std::size_t settled_ = 0;  ///< of trials_: finished, in the places of their records
  std::size_t indexed_ = 0;  ///< of the view: those of them that are settled
  bool all_finished_ = true;
  std::unordered_multimap<std::size_t, std::size_t> places_;  ///< of settled ones, by parameters
};

}  // namespace mase::search
