// SPDX-License-Identifier: Apache-2.0
// KnownTrials has the trials that a trial may use. Finished trials never change, so each is copied
// only once, and the cost of a query does not grow with the study.
#pragma once

#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "search/samplers/sampler.hpp"
#include "search/storage/storage.hpp"

namespace mase::search {

/// Whether the trial has all of these parameters, possibly with others.
bool has_set(const samplers::Trial& trial, const samplers::Params& wanted);

/// The trials of a study that are in the current view, which is made for each query.
class KnownTrials {
 public:
  /// Makes the view: all trials of the records with numbers below `end`, except the one with this
  /// id. It is valid until the next call. `records` are the study's records from the storage.
  std::span<const samplers::Trial> look_at(const std::vector<storage::Record>& records,
                                           std::int64_t end, std::int64_t without);
  /// Adds a running trial to the view.
  void add(samplers::Trial running);

  std::span<const samplers::Trial> view() const { return *view_; }
  samplers::History history() const { return {view(), indexed_}; }
  /// Whether all trials in the view were finished when it was made.
  bool all_finished() const { return all_finished_; }
  /// Whether a trial in the view has exactly these parameters.
  bool has(const samplers::Params& params) const;
  /// Like has_set, for any trial in the view. Each set needs its own `progress`, initially {}.
  struct Progress {
    std::size_t looked_at = 0;
    std::optional<std::size_t> found;
  };
  bool has_set(const samplers::Params& wanted, Progress& progress) const;

  /// The first complete trial with exactly these parameters and a number below `end`, or nullptr.
  const storage::Record* first_complete(const std::vector<storage::Record>& records,
                                        const samplers::Params& params, std::int64_t end);

 private:
  void settle(const std::vector<storage::Record>& records, std::int64_t end);

  std::vector<samplers::Trial> trials_;  ///< the first records, then the rest of the view
  std::vector<samplers::Trial> early_;   ///< a view that ends before the settled trials do
  const std::vector<samplers::Trial>* view_ = &trials_;
  std::size_t settled_ = 0;  ///< leading part of trials_ that is finished and in place
  std::size_t indexed_ = 0;  ///< number of settled trials in the view
  bool all_finished_ = true;
  std::unordered_multimap<std::size_t, std::size_t> places_;  ///< settled trials by parameters
};

}  // namespace mase::search
