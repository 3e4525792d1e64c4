// SPDX-License-Identifier: Apache-2.0
// The study tells what the workers do; the launcher tells only that one has ended.
#include "driver/launch/search_workers.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "driver/launch/database_url.hpp"
#include "driver/launch/worker_script.hpp"
#include "driver/own_words.hpp"
#include "driver/settings.hpp"

namespace mase::driver {
namespace {

constexpr std::chrono::milliseconds between_looks{200};

/// The options of this process that its workers do not get, or get with another value.
std::vector<std::string> own_options() {
  std::vector<std::string> out{"--storage", "--study", "--timeout", "--max-memory"};
  for (const FieldInfo& info : describe_fields<LaunchOptions>())
    for (const std::string& flag : setting_flags(info.name)) out.push_back(flag);
  return out;
}

std::vector<std::string> worker_words(const LaunchOptions& options, const search::Setup& setup,
                                      const WorkerPlaces& places) {
  static const std::vector<std::string> flags{"--print", "--json", "--verbose",
                                              "-v",      "-q",     "--quiet"};
  std::vector<std::string> words = own_words(own_options(), flags);
  words.front() = std::filesystem::read_symlink("/proc/self/exe");
  const auto add = [&](const char* option, const std::string& value) {
    words.emplace_back(option);
    words.push_back(value);
  };
  words.emplace_back("--trials-only");
  words.emplace_back("-q");
  add("--storage", places.url);
  add("--study", places.study);
  if (options.worker_cores && std::ranges::count(words, "--threads") == 0)
    add("--threads", std::to_string(std::max(1, *options.worker_cores / setup.n_jobs)));
  if (options.worker_memory) add("--max-memory", double_text(*options.worker_memory));
  const auto& time = options.worker_time;
  if (const auto seconds = time && setup.timeout ? std::min(*time, *setup.timeout)
                           : time                ? time
                                                 : setup.timeout)
    add("--timeout", double_text(*seconds));
  return words;
}

bool is_finished(const storage::Record& record) {
  return record.trial.state != samplers::TrialState::running &&
         record.trial.state != samplers::TrialState::waiting;
}

/// Whether nothing is left to do. Only the workers know it if the sampler counts the trials itself.
bool is_complete(const std::vector<storage::Record>& records, const search::Setup& setup) {
  if (setup.sampler_row().length != samplers::StudyLength::as_asked) return false;
  const auto counts = [](const storage::Record& record) {
    return record.trial.attributes.find("failed_trial") == nullptr;  // a retry does not
  };
  return std::ranges::all_of(records, is_finished) &&
         std::ranges::count_if(records, counts) >= setup.n_trials;
}

/// Looks at a study from time to time and tells of trials that others have finished since.
class StudyView {
 public:
  StudyView(const search::Plan& plan, const search::OnTrial& on_trial)
      : setup_(plan.options.setup),
        storage_(plan.open()),
        study_(search::open_study(*storage_, plan)),
        on_trial_(on_trial) {
    for (const storage::Record& record : storage_->trials(study_))
      if (is_finished(record)) told_.insert(record.id);
    at_start_ = told_.size();
  }

  /// Returns whether the study is complete.
  bool look() {
    const std::vector<storage::Record>& records = storage_->trials(study_);
    for (const storage::Record& record : records)
      if (is_finished(record) && told_.insert(record.id).second) on_trial_(record);
    return is_complete(records, setup_);
  }
  std::size_t news() const { return told_.size() - at_start_; }

 private:
  const search::Setup& setup_;
  std::unique_ptr<storage::Storage> storage_;
  storage::Study study_;
  const search::OnTrial& on_trial_;
  std::set<std::int64_t> told_;
  std::size_t at_start_ = 0;
};

void check_options(const LaunchRow& row, const LaunchOptions& options, const DatabaseUrl& url) {
  const std::string kind = "--launch " + std::string(row.name);
  if (row.takes_count && !options.workers)
    config_error(kind + " needs the number of workers: --workers N");
  if (!row.takes_count && options.workers)
    config_error(kind + std::string(row.argument) + " takes no --workers");
  if (row.is_elsewhere && !url.is_server)
    config_error(kind + " starts workers on other machines, which cannot share the file " +
                 url.text + "; give --storage postgresql://USER@HOST/NAME");
  if (!url.password.empty() && !row.password_place.empty())
    config_error(kind + " cannot hand on the password of --storage unseen; give " + url.text +
                 ", set PGPASSWORD for this command, and put the password into " +
                 std::string(row.password_place) + " for the workers");
}

std::string text_of(const LaunchEnd& end) {
  return end.name + " ended with status " + std::to_string(end.status) + ": " +
         (end.last_line.empty() ? "it printed nothing" : end.last_line);
}

}  // namespace

std::vector<LaunchCommand> worker_commands(const LaunchOptions& options, const search::Setup& setup,
                                           const WorkerPlaces& places, bool is_printed) {
  const ChosenLaunch chosen = choose_launch(*options.launch);
  const DatabaseUrl url = split_password(places.url);
  check_options(chosen.row, options, url);
  WorkerJob job;
  job.password = handed_on(url);
  job.count = options.workers.value_or(1);
  job.name = "mase-" + (is_printed ? places.study : places.study + unique_suffix());
  job.argument = chosen.argument;
  job.words = worker_words(options, setup, {url.text, places.study, places.logs});
  job.folder = std::filesystem::current_path();
  job.logs = std::filesystem::absolute(places.logs);
  job.options = options;
  job.is_printed = is_printed;
  return chosen.row.commands(job);
}

std::string script_of(const std::vector<LaunchCommand>& commands, bool needs_password) {
  std::string script = "#!/bin/sh\n";
  if (needs_password)
    script += ": \"${PGPASSWORD:?set it to the password of the database}\"\nexport PGPASSWORD\n";
  for (const LaunchCommand& command : commands)
    script += "# " + command.name + "\n(\n" + command.script + ") &\n";
  return script + "wait\n";
}

std::string follow_workers(Launcher& launcher, const search::Plan& plan,
                           const search::OnTrial& on_trial) {
  StudyView study(plan, on_trial);
  if (study.look()) return "";
  launcher.start();
  bool is_complete = false, was_asked = false;
  std::string problem;
  while (launcher.is_running()) {
    const auto end = launcher.wait(between_looks);
    is_complete = study.look();
    if (end && end->status != 0 && !was_asked) {
      log::warning(text_of(*end));
      if (problem.empty()) problem = text_of(*end);
    }
    if ((is_complete || interrupt_flag()) && !was_asked) {
      launcher.stop();
      was_asked = true;
    }
  }
  if (study.look() || (was_asked && is_complete)) return "";
  if (!problem.empty() && study.news() == 0) file_error("no worker finished a trial: " + problem);
  return problem;
}

}  // namespace mase::driver
