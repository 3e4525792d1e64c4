// SPDX-License-Identifier: Apache-2.0
// Opens a study, and runs the crew of worker threads.
#include <algorithm>
#include <chrono>
#include <climits>
#include <exception>
#include <thread>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "search/workers/sampler_turns.hpp"
#include "search/workers/worker.hpp"

namespace mase::search {
namespace {

/// Appends a line with key, old and new value for every leaf that differs.
void differences(const Tree& before, const Tree& now, const std::string& path,
                 std::vector<std::string>& lines) {
  if (before == now) return;
  if (!before.is_dict() || !now.is_dict()) {
    lines.push_back("  " + path + ": " + to_json(before, -1) + " in the study, " +
                    to_json(now, -1) + " now");
    return;
  }
  const auto inner = [&](const std::string& key) { return path.empty() ? key : path + "." + key; };
  for (const auto& [key, value] : before.as_dict()) {
    const Tree* other = now.find(key);
    differences(value, other ? *other : Tree(), inner(key), lines);
  }
  for (const auto& [key, value] : now.as_dict())
    if (!before.find(key)) differences(Tree(), value, inner(key), lines);
}

/// Removes the sampler, which may change, but which earlier versions kept in the configuration.
Tree without_sampler(const Tree& stored, const Tree& now) {
  Tree out = Tree::dict();
  for (const auto& [key, value] : stored.as_dict())
    if ((key != "sampler" && key != "sampler_options") || now.find(key)) out[key] = value;
  return out;
}

/// Leaves out fixed choices if the stored configuration, of an earlier version, does not have them.
Tree as_far_as_stored(const Tree& now, const Tree& stored) {
  Tree out = Tree::dict();
  for (const auto& [key, value] : now.as_dict())
    if (key != first_choice_key || stored.find(key)) out[key] = value;
  return out;
}

void check_configuration(const storage::Storage& storage, const storage::Study& study,
                         const Plan& plan) {
  if (study.directions != plan.options.directions())
    config_error("study '" + study.name + "' in " + storage.name() +
                 " has other objectives; name another study or another database");
  const Tree* stored = study.system.find(configuration_attribute);
  if (!stored) return;  // created by Optuna; its parameters are checked one by one
  // The stored configuration went through JSON, so this one does too, for equal numbers.
  const Tree now = parse_json(to_json(plan.configuration, -1), "configuration");
  std::vector<std::string> lines;
  differences(without_sampler(*stored, now), as_far_as_stored(now, *stored), "", lines);
  if (!lines.empty())
    config_error("study '" + study.name + "' was started with another configuration:\n" +
                 join(lines, "\n") +
                 "\nUse that configuration, or name another study "
                 "(search.strategy.setup.study) or project");
}

Tree metric_names(const Plan& plan) {
  if (plan.options.setup.sum_scaled_metrics) return Tree(Tree::List{Tree("sum_scaled_metrics")});
  Tree names = Tree::list();
  for (const Goal& goal : plan.options.goals) names.push_back(goal.metric);
  return names;
}

/// Makes the sets to try first. Returns false if it was stopped.
bool enqueue_first(Plan& plan, const std::atomic<bool>& stop) {
  if (!plan.enqueue) return true;
  auto sets = plan.enqueue(stop);
  if (!sets) return false;
  plan.first = std::move(*sets);
  return true;
}

/// The number of the plan's first sets that no trial has.
std::int64_t untried(const std::vector<samplers::Trial>& trials, const Plan& plan) {
  return std::count_if(plan.first.begin(), plan.first.end(), [&](const Tree& set) {
    const samplers::Params wanted = set_params(plan.space->dimensions(), set);
    return std::none_of(trials.begin(), trials.end(),
                        [&](const samplers::Trial& trial) { return has_set(trial, wanted); });
  });
}

/// Sets the number of trials, from the turn on, if the sampler determines it.
void count_from(const SamplerTurn& turn, const std::vector<storage::Record>& records, Plan& plan) {
  Setup& setup = plan.options.setup;
  const samplers::StudyLength length = setup.sampler_row().length;
  if (length == samplers::StudyLength::as_asked) return;
  std::vector<samplers::Trial> before;
  std::int64_t retries = 0;  // do not count towards the limit
  for (const storage::Record& record : records) {
    if (record.trial.number >= turn.first) break;
    before.push_back(record.trial);
    retries += record.trial.attributes.find("failed_trial") != nullptr;
  }
  const std::int64_t own =
      length == samplers::StudyLength::as_enqueued ? untried(before, plan) : setup.n_trials;
  setup.n_trials = static_cast<int>(std::min<std::int64_t>(turn.first - retries + own, INT_MAX));
}

}  // namespace

storage::Study open_study(storage::Storage& storage, const Plan& plan) {
  auto study = storage.find_study(plan.study);
  if (!study) {
    Tree system = Tree::dict();
    system[configuration_attribute] = plan.configuration;
    system[turns_attribute] = first_turns(plan);
    system[id_attribute] = unique_suffix();
    system["study:metric_names"] = metric_names(plan);
    study = storage.create_study(plan.study, plan.options.directions(), Tree::dict(), system);
  }
  check_configuration(storage, *study, plan);
  return *study;
}

std::string run_workers(const Plan& given, const OnTrial& on_trial, const std::atomic<bool>& stop) {
  const auto begun = std::chrono::steady_clock::now();
  Plan plan = given;
  auto storage = plan.open();
  storage->leave_out_attributes();
  const storage::Study study = open_study(*storage, plan);
  if (!enqueue_first(plan, stop)) return "";
  const SamplerTurn turn = take_turn(*storage, study, plan);
  count_from(turn, storage->trials(study), plan);
  storage.reset();  // each worker has its own
  Heartbeats heartbeats(plan.url, plan.options.setup.heartbeat);
  Crew crew{plan, on_trial, stop, begun, heartbeats, {}, {}, {}};
  std::exception_ptr first;
  std::mutex mutex;
  const auto work = [&] {
    try {
      Worker(crew).run();
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!first) first = std::current_exception();
      crew.failed = true;
    }
  };
  std::vector<std::thread> threads;
  for (int i = 1; i < plan.options.setup.n_jobs; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  if (first) std::rethrow_exception(first);
  return crew.failures.hopeless() ? crew.failures.reason() : "";
}

}  // namespace mase::search
