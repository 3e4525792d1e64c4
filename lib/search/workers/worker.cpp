// SPDX-License-Identifier: Apache-2.0
// The life of a trial: it is started or adopted, gets parameters, is evaluated and stored.
#include "search/workers/worker.hpp"

#include <algorithm>
#include <cmath>
#include <thread>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "search/storage/encode.hpp"
#include "search/workers/worker_identity.hpp"

namespace mase::search {
namespace {

using samplers::TrialState;
using storage::Outcome;
using storage::Record;

constexpr const char* constraints_attribute = "constraints";
/// The number of heartbeats that a worker may miss before it counts as dead.
constexpr double missed_beats = 6;

/// How long an idle worker waits for others, and after how many waits it logs that it waits.
constexpr std::chrono::milliseconds pause_length{20};
constexpr int pauses_between_words = 1500;
/// A trial whose worker died this many times is not tried again.
constexpr std::size_t most_retries = 3;

/// The record with this id, or nullptr.
const Record* find_record(const std::vector<Record>& records, std::int64_t id) {
  const auto found = std::lower_bound(
      records.begin(), records.end(), id,
      [](const Record& record, std::int64_t wanted) { return record.id < wanted; });
  return found != records.end() && found->id == id ? &*found : nullptr;
}

Outcome failure(const std::string& reason) {
  Outcome outcome;
  outcome.state = TrialState::fail;
  outcome.system["fail_reason"] = reason;
  return outcome;
}

}  // namespace

void Failures::add(const Record& record) {
  constexpr int most = 10;
  const Tree* reason = record.trial.attributes.find("fail_reason");
  any_success_ = any_success_ || reason == nullptr;
  if (any_success_) return;
  count_ = reason->as_string() == reason_ ? count_ + 1 : 1;
  reason_ = reason->as_string();
  if (count_ >= most) hopeless_ = true;
}

bool Crew::over() const {
  if (stop || failed || failures.hopeless()) return true;
  const auto& timeout = plan.options.setup.timeout;
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begun;
  return timeout && *timeout > 0 && passed.count() > *timeout;
}

Worker::Worker(Crew& crew)
    : crew_(crew),
      storage_(crew.plan.open()),
      study_(open_study(*storage_, crew.plan)),
      asker_(crew.plan),
      identity_(own_identity()) {
  storage_->leave_out_attributes();
}

void Worker::run() {
  while (!crew_.over()) {
    if (auto record = next())
      run_trial(std::move(*record));
    else if (study_complete())
      return;
    else
      pause();
  }
}

/// Whether the last look found nothing to do.
bool Worker::study_complete() {
  const std::vector<Record>& records = storage_->last_trials(study_);
  return std::none_of(records.begin(), records.end(), [](const Record& record) {
    return record.trial.state == TrialState::running || record.trial.state == TrialState::waiting;
  });
}

/// A trial to run. Only if there is none it looks at the others, as `parameters` does for a trial.
std::optional<Record> Worker::next() {
  Tree system = Tree::dict();
  system[storage::worker_attribute] = identity_;
  auto begun = storage_->begin_trial(study_, system, crew_.plan.options.setup.n_trials);
  return begun ? std::move(begun) : look();
}

/// Looks at the study, and adopts a trial of a dead worker. As in Optuna, it fails and is enqueued
/// again. In deterministic mode it continues under its own number, so that a killed worker does not
/// change the study.
std::optional<Record> Worker::look() {
  storage::Look seen = storage_->look(study_);
  study_.system = std::move(seen.system);
  const double grace = missed_beats * crew_.plan.options.setup.heartbeat;
  const std::vector<Record>& records = storage_->last_trials(study_);
  for (const storage::Stale& running : seen.running) {
    const Record* record = find_record(records, running.id);
    const Tree* worker =
        record ? record->trial.attributes.find(storage::worker_attribute) : nullptr;
    const bool is_silent = running.silent > grace && is_still_silent(running);
    const bool is_dead = is_silent || (worker && is_dead_here(*worker));
    if (record && is_dead && recover(running, *record)) return *record;
  }
  return std::nullopt;
}

/// Whether the heartbeat has stayed the same for as long as two of them take. Hosts that share a
/// file write their own times into it, and a clock that is behind makes every heartbeat look old.
bool Worker::is_still_silent(const storage::Stale& running) {
  constexpr double beats = 2;
  const auto now = std::chrono::steady_clock::now();
  SeenBeat& seen =
      seen_beats_.try_emplace(running.id, SeenBeat{running.heartbeat, now}).first->second;
  if (seen.heartbeat != running.heartbeat) seen = {running.heartbeat, now};
  const std::chrono::duration<double> unchanged = now - seen.since;
  return unchanged.count() > beats * crew_.plan.options.setup.heartbeat;
}

bool Worker::recover(const storage::Stale& dead, const Record& record) {
  if (crew_.plan.options.setup.deterministic) {
    Tree system = Tree::dict();
    system[storage::worker_attribute] = identity_;
    return storage_->take_over(dead, system);
  }
  const Tree* history = record.trial.attributes.find("retry_history");
  const bool is_last = history && history->size() >= most_retries;
  if (is_last && storage_->take_over(dead))
    storage_->finish(dead.id, failure("its worker died, as did those of the " +
                                      std::to_string(history->size()) + " tries before"));
  else if (!is_last)
    storage_->fail_and_retry(study_, dead);
  return false;
}

/// Waits a little for other workers, and from time to time logs for which trials.
void Worker::pause() {
  std::this_thread::sleep_for(pause_length);
  if (++pauses_ % pauses_between_words != 0) return;
  std::vector<std::string> numbers;
  for (const Record& record : storage_->trials(study_))
    if (record.trial.state == TrialState::running)
      numbers.push_back(std::to_string(record.trial.number));
  log::info("waiting for trials of other workers: " + join(numbers, ", "));
}

std::optional<samplers::Params> Worker::parameters(const Record& record) {
  while (!crew_.over()) {
    if (auto orphan = look()) {
      run_trial(std::move(*orphan));
      continue;
    }
    if (!record.trial.params.empty()) return record.trial.params;
    asker_.follow(sampler_turns(study_, crew_.plan));
    if (auto suggestion = asker_.ask(storage_->last_trials(study_), record)) {
      storage_->set_parameters(record, suggestion->params, crew_.plan.space->dimensions(),
                               suggestion->attributes);
      return suggestion->params;
    }
    pause();  // trials of an earlier batch run
  }
  return std::nullopt;
}

void Worker::run_trial(Record record) {
  crew_.heartbeats.add(record.id);
  const auto params = parameters(record);
  if (!params) {
    // If stopped while waiting, the trial is returned unchanged.
    crew_.heartbeats.remove(record.id);
    storage_->release(record);
    return;
  }
  record.trial.params = *params;
  const auto known = known_outcome(record);
  const Outcome result = known ? *known : outcome(record, *params);
  const bool told = storage_->finish(record.id, result);
  crew_.heartbeats.remove(record.id);
  if (!told) {
    log::warning("trial " + std::to_string(record.trial.number) +
                 " was finished by another worker; the second result is dropped");
    return;
  }
  record.trial.state = result.state;
  record.trial.values = result.values;
  record.user = result.user;
  for (const auto& [key, value] : result.system.as_dict()) record.trial.attributes[key] = value;
  record.trial.violation = storage::violation_of(record.trial.attributes);
  const std::lock_guard lock(crew_.telling);
  if (crew_.plan.gives_up) crew_.failures.add(record);
  crew_.on_trial(record);
}

/// The outcome of the first complete trial with the same parameters (in deterministic mode, of an
/// earlier batch), or nothing.
std::optional<Outcome> Worker::known_outcome(const Record& record) {
  if (!crew_.plan.repeatable) return std::nullopt;
  const Record* earlier = asker_.measured_before(storage_->last_trials(study_), record);
  if (!earlier) return std::nullopt;
  Outcome outcome;
  outcome.values = earlier->trial.values;
  outcome.user = storage_->user_attributes(*earlier);
  outcome.system[storage::repeats_attribute] = earlier->trial.number;
  if (const Tree* constraints = earlier->trial.attributes.find(constraints_attribute))
    outcome.system[constraints_attribute] = *constraints;
  return outcome;
}

Outcome Worker::outcome(const Record& record, const samplers::Params& params) {
  double last = 0;
  bool reported = false;
  const Report tell = [&](std::int64_t step, double value) {
    last = value;
    reported = true;
    report(record, step, value);
  };
  try {
    return measured_outcome(params, tell);
  } catch (const Pruned&) {
    Outcome pruned;
    pruned.state = TrialState::pruned;
    if (reported && !std::isnan(last)) pruned.values = {last};
    pruned.user["sampled_config"] = crew_.plan.space->sampled_config(params);
    return pruned;
  } catch (const Error& error) {
    if (error.fault() == Fault::internal) throw;
    Outcome failed = failure(error.what());
    failed.user["sampled_config"] = crew_.plan.space->sampled_config(params);
    return failed;
  }
}

Outcome Worker::measured_outcome(const samplers::Params& params, const Report& tell) {
  const Options& options = crew_.plan.options;
  const Measured measured = crew_.plan.evaluate(params, tell);
  Outcome outcome;
  outcome.user["software_metrics"] = measured.software;
  outcome.user["hardware_metrics"] = measured.hardware;
  outcome.user["sampled_config"] = crew_.plan.space->sampled_config(params);
  Tree& scaled = outcome.user["scaled_metrics"] = Tree::dict();
  for (const Goal& goal : options.goals) {
    const double value = goal.scale * measured.value(goal.metric);
    if (std::isnan(value)) {
      Outcome failed = failure("metric '" + goal.metric + "' is NaN");
      failed.user = outcome.user;
      return failed;
    }
    scaled[goal.metric] = value;
  }
  outcome.values = options.values_of(measured);
  Tree constraints = Tree::list();
  for (const Constraint& constraint : options.constraints)
    constraints.push_back(constraint.excess(measured.value(constraint.metric)));
  if (constraints.size() > 0) outcome.system[constraints_attribute] = std::move(constraints);
  return outcome;
}

void Worker::report(const Record& record, std::int64_t step, double value) {
  storage_->report(record.id, step, value);
  if (!crew_.plan.options.setup.prunes()) return;
  const std::vector<Record>& records = storage_->trials(study_);
  const Record* self = find_record(records, record.id);
  if (!self) return;
  if (samplers::should_prune(crew_.plan.options.pruner, asker_.known(records, record), self->trial,
                             crew_.plan.options.directions().front()))
    throw Pruned();
}

}  // namespace mase::search
