// SPDX-License-Identifier: Apache-2.0
// In batches, trial n uses only the results of the trials before n - n mod batch.
#include "search/workers/asker.hpp"

#include <algorithm>
#include <limits>

#include "base/error.hpp"

namespace mase::search {
namespace {

using samplers::Trial;
using storage::Record;

const Record& record_of(const std::vector<Record>& records, std::int64_t number) {
  const auto found = std::lower_bound(
      records.begin(), records.end(), number,
      [](const Record& entry, std::int64_t wanted) { return entry.trial.number < wanted; });
  if (found == records.end() || found->trial.number != number)
    file_error("the study has no trial " + std::to_string(number) +
               ": something other than a search has changed its rows; name another study");
  return *found;
}

/// How often the sampler and then chance are asked before a configuration may be repeated.
/// Repeating a measurement gives no information.
constexpr std::size_t sampler_attempts = 8, random_attempts = 8;

/// The seed of an attempt; the seeds are far apart.
std::uint64_t seed_of(std::uint64_t seed, std::size_t attempt) {
  constexpr std::uint64_t odd = 0x9E3779B97F4A7C15;  // 2^64 / golden ratio
  return seed + attempt * odd;
}

/// Applies the fixed parameters of the trial, except values outside the space.
void apply_fixed(const samplers::Space& space, const Tree* fixed, samplers::Params& params) {
  if (!fixed || !fixed->is_dict()) return;
  samplers::Params merged;
  for (const samplers::Dimension& dimension : space) {
    if (!samplers::is_active(dimension, merged)) continue;
    std::optional<double> value;
    if (const Tree* given = fixed->find(dimension.name))
      value = samplers::internal_value(dimension.distribution, *given);
    if (!value && params.contains(dimension.name)) value = params.at(dimension.name);
    // A fixed parent can activate a dimension that the sampler left out.
    merged[dimension.name] = value ? *value : samplers::value_at(dimension.distribution, 0);
  }
  params = std::move(merged);
}

}  // namespace

samplers::Params set_params(const samplers::Space& space, const Tree& set) {
  samplers::Params params;
  for (const samplers::Dimension& dimension : space)
    if (const Tree* value = set.find(dimension.name))
      if (const auto internal = samplers::internal_value(dimension.distribution, *value))
        params[dimension.name] = *internal;
  return params;
}

Asker::Asker(const Plan& plan) : plan_(plan), turns_(sampler_turns({}, plan)) {
  for (const Tree& set : plan.first)
    first_.push_back({set_params(plan.space->dimensions(), set), {}});
}

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

samplers::Sampler& Asker::sampler(const SamplerTurn& turn, std::size_t attempt) {
  std::unique_ptr<samplers::Sampler>& sampler = samplers_[{turn.first, attempt}];
  if (sampler) return *sampler;
  samplers::Problem problem = plan_.problem();
  problem.seed = seed_of(problem.seed, attempt);
  sampler = attempt < sampler_attempts
                ? turn.row().make(problem, turn.options)
                : samplers::find_sampler("random")->make(problem, Tree::dict());
  return *sampler;
}

/// Asks the sampler itself at first, then with other seeds, then chance, because a sampler may
/// suggest the same best configuration for every seed.
samplers::Suggestion Asker::attempt(const SamplerTurn& turn, std::int64_t number,
                                    std::size_t attempt) {
  if (attempt > 0 && attempt < sampler_attempts)
    if (auto again = sampler(turn, 0).suggest_again(seed_of(plan_.seed, attempt)))
      return std::move(*again);
  return sampler(turn, attempt).suggest(known_.history(), number);
}

std::int64_t Asker::batch_start(std::int64_t number) const {
  return number - number % plan_.options.setup.batch;
}

std::int64_t Asker::first_unknown(std::int64_t number) const {
  return plan_.options.setup.deterministic ? batch_start(number)
                                           : std::numeric_limits<std::int64_t>::max();
}

/// The set that the trial should try, or one that others left out; nullptr if all were tried.
const Tree* Asker::untried(std::int64_t number) {
  const auto is_tried = [&](std::size_t i) {
    return known_.has_set(first_[i].params, first_[i].progress);
  };
  const auto turn = static_cast<std::size_t>(number);
  if (turn < first_.size() && !is_tried(turn)) return &plan_.first[turn];
  for (std::size_t i = 0; i < first_.size(); ++i)
    if (!is_tried(i)) return &plan_.first[i];
  return nullptr;
}

samplers::Suggestion Asker::suggest(const Record& record) {
  const Tree* fixed = record.trial.attributes.find("fixed_params");
  if (!fixed) fixed = untried(record.trial.number);
  const SamplerTurn& turn = turn_of(record.trial.number);
  const bool free = !fixed && turn.row().length == samplers::StudyLength::as_asked;
  const std::size_t attempts = free ? sampler_attempts + random_attempts : 1;
  samplers::Suggestion suggestion;
  for (std::size_t i = 0; i < attempts; ++i) {
    suggestion = attempt(turn, record.trial.number, i);
    if (!known_.has(suggestion.params)) break;
  }
  apply_fixed(plan_.space->dimensions(), fixed, suggestion.params);
  return suggestion;
}

std::span<const Trial> Asker::known(const std::vector<Record>& records, const Record& record) {
  return known_.look_at(records, first_unknown(record.trial.number), record.id);
}

const Record* Asker::measured_before(const std::vector<Record>& records, const Record& record) {
  return known_.first_complete(records, record.trial.params, first_unknown(record.trial.number));
}

std::optional<samplers::Suggestion> Asker::ask(const std::vector<Record>& records,
                                               const Record& record) {
  known(records, record);
  if (plan_.options.setup.deterministic) return ask_in_batch(records, record);
  return suggest(record);
}

std::optional<samplers::Suggestion> Asker::ask_in_batch(const std::vector<Record>& records,
                                                        const Record& record) {
  if (!known_.all_finished()) return std::nullopt;
  for (std::int64_t n = batch_start(record.trial.number); n < record.trial.number; ++n) {
    Trial running;
    running.number = n;
    const Record& earlier = record_of(records, n);
    const bool chosen = !earlier.trial.params.empty();
    running.params = chosen ? earlier.trial.params : suggest(earlier).params;
    known_.add(std::move(running));
  }
  return suggest(record);
}

}  // namespace mase::search
