// SPDX-License-Identifier: Apache-2.0
// Batches: trial n knows the results of the trials before n - n mod batch, no others.
#include "search/workers/asker.hpp"

#include <algorithm>
#include <limits>

#include "base/error.hpp"

namespace mase::search {
namespace {

using samplers::Trial;
using samplers::TrialState;
using storage::Record;

bool finished(const Trial& trial) {
  return trial.state != TrialState::running && trial.state != TrialState::waiting;
}

const Record& record_of(const std::vector<Record>& records, std::int64_t number) {
  const auto found = std::lower_bound(
      records.begin(), records.end(), number,
      [](const Record& entry, std::int64_t wanted) { return entry.trial.number < wanted; });
  MASE_CHECK(found != records.end() && found->trial.number == number,
             "the study lacks trial " + std::to_string(number));
  return *found;
}

/// How often the sampler, and then chance, is asked before a configuration may come again: a
/// measurement that is known teaches nothing.
constexpr std::size_t sampler_attempts = 8, random_attempts = 8;

bool is_repeated(std::span<const Trial> history, const samplers::Params& params) {
  return std::any_of(history.begin(), history.end(),
                     [&](const Trial& trial) { return trial.params == params; });
}

/// Where the trial's fixed parameters have a say, they win; values outside of the space do not.
void apply_fixed(const samplers::Space& space, const Tree* fixed, samplers::Params& params) {
  if (!fixed || !fixed->is_dict()) return;
  samplers::Params merged;
  for (const samplers::Dimension& dimension : space) {
    if (!samplers::is_active(dimension, merged)) continue;
    std::optional<double> value;
    if (const Tree* given = fixed->find(dimension.name))
      value = samplers::internal_value(dimension.distribution, *given);
    if (!value && params.contains(dimension.name)) value = params.at(dimension.name);
    // A fixed parent can wake a dimension that the sampler left out.
    merged[dimension.name] = value ? *value : samplers::value_at(dimension.distribution, 0);
  }
  params = std::move(merged);
}

}  // namespace

bool is_tried(std::span<const Trial> history, const samplers::Space& space, const Tree& set) {
  samplers::Params wanted;
  for (const samplers::Dimension& dimension : space)
    if (const Tree* value = set.find(dimension.name))
      if (const auto internal = samplers::internal_value(dimension.distribution, *value))
        wanted[dimension.name] = *internal;
  const auto has = [&](const Trial& trial) {
    return std::all_of(wanted.begin(), wanted.end(), [&](const auto& entry) {
      const auto found = trial.params.find(entry.first);
      return found != trial.params.end() && found->second == entry.second;
    });
  };
  return std::any_of(history.begin(), history.end(), has);
}

Asker::Asker(const Plan& plan) : plan_(plan), turns_(sampler_turns({}, plan)) {}

void Asker::follow(std::vector<SamplerTurn> turns) {
  if (turns == turns_) return;
  samplers_.clear();
  turns_ = std::move(turns);
}

const SamplerTurn& Asker::turn_of(std::int64_t number) const {
  const auto next = std::find_if(turns_.begin() + 1, turns_.end(),
                                 [&](const SamplerTurn& turn) { return turn.first > number; });
  return *(next - 1);
}

/// The sampler itself at first, then as it would be with other seeds, then chance: a sampler that
/// is sure of its best configuration says nothing else with any seed.
samplers::Sampler& Asker::sampler(const SamplerTurn& turn, std::size_t attempt) {
  constexpr std::uint64_t odd = 0x9E3779B97F4A7C15;  // 2^64 / golden ratio: far apart
  std::unique_ptr<samplers::Sampler>& sampler = samplers_[{turn.first, attempt}];
  if (sampler) return *sampler;
  samplers::Problem problem = plan_.problem();
  problem.seed += attempt * odd;
  sampler = attempt < sampler_attempts
                ? turn.row().make(problem, turn.options)
                : samplers::find_sampler("random")->make(problem, Tree::dict());
  return *sampler;
}

std::int64_t Asker::batch_start(std::int64_t number) const {
  return number - number % plan_.options.setup.batch;
}

std::int64_t Asker::first_unknown(std::int64_t number) const {
  return plan_.options.setup.deterministic ? batch_start(number)
                                           : std::numeric_limits<std::int64_t>::max();
}

/// The set that is the trial's turn, or one that others left out; nullptr when all were tried.
const Tree* Asker::untried(std::span<const Trial> history, std::int64_t number) const {
  const samplers::Space& space = plan_.space->dimensions();
  const auto turn = static_cast<std::size_t>(number);
  if (turn < plan_.first.size() && !is_tried(history, space, plan_.first[turn]))
    return &plan_.first[turn];
  for (const Tree& set : plan_.first)
    if (!is_tried(history, space, set)) return &set;
  return nullptr;
}

samplers::Suggestion Asker::suggest(std::span<const Trial> history, const Record& record) {
  const Tree* fixed = record.trial.attributes.find("fixed_params");
  if (!fixed) fixed = untried(history, record.trial.number);
  const SamplerTurn& turn = turn_of(record.trial.number);
  const bool free = !fixed && turn.row().length == samplers::StudyLength::as_asked;
  const std::size_t attempts = free ? sampler_attempts + random_attempts : 1;
  samplers::Suggestion suggestion;
  for (std::size_t attempt = 0; attempt < attempts; ++attempt) {
    suggestion = sampler(turn, attempt).suggest(history, record.trial.number);
    if (!is_repeated(history, suggestion.params)) break;
  }
  apply_fixed(plan_.space->dimensions(), fixed, suggestion.params);
  return suggestion;
}

std::vector<Trial> Asker::known(const std::vector<Record>& records, const Record& record) const {
  const bool all = !plan_.options.setup.deterministic;
  const std::int64_t end = batch_start(record.trial.number);
  std::vector<Trial> history;
  for (const Record& entry : records)
    if (all ? entry.id != record.id : entry.trial.number < end) history.push_back(entry.trial);
  return history;
}

std::optional<samplers::Suggestion> Asker::ask(const std::vector<Record>& records,
                                               const Record& record) {
  if (plan_.options.setup.deterministic) return ask_in_batch(records, record);
  return suggest(others(records, record), record);
}

/// All trials but the record's own, which is the newest unless it waited or was adopted.
std::span<const Trial> Asker::others(const std::vector<Record>& records, const Record& record) {
  if (records.empty() || records.back().id != record.id) return history_ = known(records, record);
  for (std::size_t i = 0; i + 1 < records.size(); ++i) {
    if (i == history_.size())
      history_.push_back(records[i].trial);
    else if (!finished(history_[i]) || history_[i].number != records[i].trial.number)
      history_[i] = records[i].trial;
  }
  return std::span(history_).first(records.size() - 1);
}

std::optional<samplers::Suggestion> Asker::ask_in_batch(const std::vector<Record>& records,
                                                        const Record& record) {
  const std::int64_t start = batch_start(record.trial.number);
  std::size_t before = 0;
  for (; before < records.size() && records[before].trial.number < start; ++before) {
    if (!finished(records[before].trial)) return std::nullopt;
    if (before >= history_.size()) history_.push_back(records[before].trial);
  }
  for (std::int64_t n = start; n < record.trial.number; ++n) {
    Trial running;
    running.number = n;
    const Record& earlier = record_of(records, n);
    const bool chosen = !earlier.trial.params.empty();
    running.params = chosen ? earlier.trial.params : suggest(history_, earlier).params;
    history_.push_back(std::move(running));
  }
  const samplers::Suggestion suggestion = suggest(history_, record);
  history_.resize(before);
  return suggestion;
}

}  // namespace mase::search
