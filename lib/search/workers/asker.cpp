// SPDX-License-Identifier: Apache-2.0
// Batches: trial n knows the results of the trials before n - n mod batch, no others.
#include "search/workers/asker.hpp"

#include <algorithm>

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

Asker::Asker(const Plan& plan)
    : plan_(plan),
      sampler_(
          plan.options.setup.sampler_row().make(plan.problem(), plan.options.sampler_options)) {}

std::int64_t Asker::batch_start(std::int64_t number) const {
  return number - number % plan_.options.setup.batch;
}

samplers::Suggestion Asker::suggest(std::span<const Trial> history, const Record& record) const {
  samplers::Suggestion suggestion = sampler_->suggest(history, record.trial.number);
  apply_fixed(plan_.space->dimensions(), record.trial.attributes.find("fixed_params"),
              suggestion.params);
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
    running.params = suggest(history_, record_of(records, n)).params;
    history_.push_back(std::move(running));
  }
  const samplers::Suggestion suggestion = suggest(history_, record);
  history_.resize(before);
  return suggestion;
}

}  // namespace mase::search
