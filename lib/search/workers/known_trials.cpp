// SPDX-License-Identifier: Apache-2.0
// Makes views of trials, and an index of their parameters.
#include "search/workers/known_trials.hpp"

#include <algorithm>
#include <functional>

namespace mase::search {
namespace {

using samplers::Params;
using samplers::Trial;
using samplers::TrialState;
using storage::Record;

bool is_finished(const Trial& trial) {
  return trial.state != TrialState::running && trial.state != TrialState::waiting;
}

std::size_t hash_of(const Params& params) {
  constexpr std::size_t odd = 0x9E3779B97F4A7C15;  // 2^64 / golden ratio
  std::size_t hash = params.size();
  for (const auto& [name, value] : params)
    hash = (hash ^ (std::hash<double>()(value) + std::hash<const std::string*>()(&name))) * odd;
  return hash;
}

}  // namespace

bool has_set(const Trial& trial, const Params& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const auto& entry) {
    const auto found = trial.params.find(entry.first);
    return found != trial.params.end() && found->second == entry.second;
  });
}

void KnownTrials::settle(const std::vector<Record>& records, std::int64_t end) {
  trials_.resize(settled_);
  for (; settled_ < records.size(); ++settled_) {
    const Trial& trial = records[settled_].trial;
    if (!is_finished(trial) || trial.number >= end) return;
    trials_.push_back(samplers::without_attributes(trial));
    places_.emplace(hash_of(trial.params), settled_);
  }
}

std::span<const Trial> KnownTrials::look_at(const std::vector<Record>& records, std::int64_t end,
                                            std::int64_t without) {
  settle(records, end);
  const auto beyond = std::partition_point(trials_.begin(), trials_.end(),
                                           [&](const Trial& trial) { return trial.number < end; });
  indexed_ = static_cast<std::size_t>(beyond - trials_.begin());
  all_finished_ = true;
  view_ = &trials_;
  if (indexed_ < settled_) {
    early_.assign(trials_.begin(), beyond);
    view_ = &early_;
    return view();
  }
  for (std::size_t i = settled_; i < records.size() && records[i].trial.number < end; ++i) {
    all_finished_ = all_finished_ && is_finished(records[i].trial);
    if (records[i].id != without) trials_.push_back(samplers::without_attributes(records[i].trial));
  }
  return view();
}

void KnownTrials::add(Trial running) {
  (view_ == &trials_ ? trials_ : early_).push_back(std::move(running));
}

bool KnownTrials::has(const Params& params) const {
  const auto [first, last] = places_.equal_range(hash_of(params));
  if (std::any_of(first, last, [&](const auto& entry) {
        return entry.second < indexed_ && trials_[entry.second].params == params;
      }))
    return true;
  const auto rest = view().subspan(indexed_);
  return std::any_of(rest.begin(), rest.end(),
                     [&](const Trial& trial) { return trial.params == params; });
}

bool KnownTrials::has_set(const Params& wanted, Progress& progress) const {
  for (; !progress.found && progress.looked_at < indexed_; ++progress.looked_at)
    if (search::has_set(trials_[progress.looked_at], wanted)) progress.found = progress.looked_at;
  if (progress.found && *progress.found < indexed_) return true;
  const auto rest = view().subspan(indexed_);
  return std::any_of(rest.begin(), rest.end(),
                     [&](const Trial& trial) { return search::has_set(trial, wanted); });
}

const Record* KnownTrials::first_complete(const std::vector<Record>& records, const Params& params,
                                          std::int64_t end) {
  const auto fits = [&](const Trial& trial) {
    return trial.number < end && trial.state == TrialState::complete && trial.params == params;
  };
  settle(records, end);
  const Record* found = nullptr;
  const auto [first, last] = places_.equal_range(hash_of(params));
  for (auto entry = first; entry != last; ++entry)
    if (const Record& record = records[entry->second];
        fits(record.trial) && (!found || record.id < found->id))
      found = &record;
  for (std::size_t i = settled_; !found && i < records.size(); ++i) {
    if (records[i].trial.number >= end) break;
    if (fits(records[i].trial)) found = &records[i];
  }
  return found;
}

}  // namespace mase::search
