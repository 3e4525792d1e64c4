// SPDX-License-Identifier: Apache-2.0
// `mase search` opens or continues a study, runs trials, and writes a folder that is ready to use
// for every point of the Pareto set.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>

#include "base/file.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/writing_inside.hpp"
#include "driver/launch/database_url.hpp"
#include "driver/launch/search_workers.hpp"
#include "driver/search_points.hpp"
#include "driver/search_store.hpp"
#include "sandbox/policy.hpp"
#include "search/results/result.hpp"
#include "search/results/result_rows.hpp"
#include "search/samplers/pareto.hpp"
#include "search/workers/allocation.hpp"
#include "search/workers/sampler_turns.hpp"

namespace mase::driver {
namespace {

using storage::Record;

std::string value_text(double value) { return fixed_text(value, 4); }

std::string values_text(const search::Options& options, const Record& record) {
  const Tree* scaled = record.user.find("scaled_metrics");
  if (!scaled) return "";
  std::vector<std::string> parts;
  for (const search::Goal& goal : options.goals)
    if (const Tree* value = scaled->find(goal.metric))
      parts.push_back(goal.metric + " " + value_text(value->as_double() / goal.scale));
  return join(parts, ", ");
}

/// Logs one line per finished trial, and redraws the progress line on a terminal.
class Follower {
 public:
  Follower(const search::Options& options, const CommonRequest& request)
      : options_(options), line_(!request.quiet && !request.json) {}

  void operator()(const Record& record) {
    ++done_;
    const std::string number = "trial " + std::to_string(record.trial.number);
    if (const Tree* reason = record.trial.attributes.find("fail_reason"))
      log::warning(number + " failed: " + reason->as_string());
    else
      log::debug(number + ": " + values_text(options_, record));
    improve(record);
    line_.show(text(record.trial.number));
  }
  void clear() { line_.clear(); }
  std::int64_t done() const { return done_; }

 private:
  void improve(const Record& record) {
    if (record.trial.state != samplers::TrialState::complete) return;
    for (const Record& better : best_)
      if (dominates(better, record)) return;
    std::erase_if(best_, [&](const Record& old) { return dominates(record, old); });
    best_.push_back(record);
  }
  bool dominates(const Record& a, const Record& b) const {
    const auto directions = options_.directions();
    return samplers::dominates(samplers::point_of(a.trial, directions),
                               samplers::point_of(b.trial, directions));
  }
  std::string text(std::int64_t number) const {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begun_;
    const double left = passed.count() / double(done_) *
                        std::max<double>(0, double(options_.setup.n_trials - number - 1));
    return "trial " + std::to_string(number + 1) + "/" + std::to_string(options_.setup.n_trials) +
           (best_.size() == 1 ? "  best " + values_text(options_, best_.front())
                              : "  " + std::to_string(best_.size()) + " on the front") +
           "  ETA " + duration_text(left);
  }

  const search::Options& options_;
  ProgressLine line_;
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  std::int64_t done_ = 0;
  std::vector<Record> best_;
};

/// Puts solutions of the exact allocation first in the study, if the configuration asks for them.
class Allocator {
 public:
  Allocator(search::Plan& plan, const CommonRequest& request)
      : line_(!request.quiet && !request.json) {
    const search::Setup& setup = plan.options.setup;
    if (!setup.enqueues()) return;
    constexpr std::size_t before_others = 8;
    const bool only = setup.sampler_row().length == samplers::StudyLength::as_enqueued;
    const std::size_t count = only ? static_cast<std::size_t>(setup.n_trials) : before_others;
    plan.enqueue = [this, plan, count](const std::atomic<bool>& stop) {
      return allocate(plan, count, stop);
    };
  }
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;

  void add_to(search::StudyResult& result) const {
    if (!found_) return;
    result.sensitivity = found_->sensitivity;
    result.cost_metric = found_->metric;
  }

 private:
  std::optional<std::vector<Tree>> allocate(const search::Plan& plan, std::size_t count,
                                            const std::atomic<bool>& stop) {
    found_ = search::allocations(
        plan, count,
        [this](std::int64_t done, std::int64_t of) {
          line_.show("choices of layers " + std::to_string(done) + "/" + std::to_string(of));
        },
        stop);
    line_.clear();
    if (!found_) return std::nullopt;
    return found_->sets;
  }

  ProgressLine line_;
  std::optional<search::Allocations> found_;
};

search::StudyResult read_result(const SearchTask& task, const search::Plan& plan) {
  const auto storage = plan.open();
  const storage::Study study = search::open_study(*storage, plan);
  return {.name = study.name,
          .options = task.options(),
          .problem = plan.problem(),
          .trials = storage->take_trials(study),
          .baseline = task.baseline(),
          .samplers = search::turns_text(search::sampler_turns(study, plan))};
}

int count_of(const search::StudyResult& result, samplers::TrialState state) {
  return static_cast<int>(
      std::count_if(result.trials.begin(), result.trials.end(),
                    [&](const Record& record) { return record.trial.state == state; }));
}

void print_result(const SearchTask& task, const search::StudyResult& result,
                  const std::vector<std::string>& folders, const std::string& folder,
                  Output& output) {
  using samplers::TrialState;
  output.text("\n" + std::to_string(result.trials.size()) +
              " trials: " + std::to_string(count_of(result, TrialState::complete)) + " complete, " +
              std::to_string(count_of(result, TrialState::pruned)) + " pruned, " +
              std::to_string(count_of(result, TrialState::fail)) + " failed");
  output.table(search::best_table(result));
  for (const std::string& point : folders)
    output.text("ready to run: " + point + "/transform.toml");
  output.text("report: " + folder + "/report.html");
  Tree& document = output.document();
  document["study"] = result.name;
  document["trials"] = result.trials.size();
  document["baseline"] = task.baseline();
  document["best"] = search::best_tree(result);
  document["best_folders"] = Tree::list_of(folders);
  document["folder"] = folder;
}

/// Reports the nearest trial when no trial satisfies the constraints.
void explain_infeasible(const search::StudyResult& result) {
  std::vector<std::string> bounds;
  for (const search::Constraint& constraint : result.options.constraints)
    bounds.push_back(constraint.text());
  std::string text = "no trial satisfies " + join(bounds, " and ");
  if (const auto nearest = result.nearest_to_feasible()) {
    const Record& record = result.trials[*nearest];
    text += "; nearest: trial " + std::to_string(record.trial.number);
    for (const search::Constraint& constraint : result.options.constraints)
      if (const Tree* value = search::metric_of(record, constraint.metric))
        text += ", " + constraint.metric + " " + value_text(value->as_double());
  }
  log::error(text);
}

/// The values of a distribution as a list, or its bounds if there are many values.
std::string choices_text(const samplers::Distribution& distribution) {
  constexpr std::int64_t most = 64;
  const auto count = samplers::cardinality(distribution);
  if (!count || *count > most) return to_json(samplers::to_tree(distribution).at("attributes"), -1);
  Tree choices = Tree::list();
  for (std::int64_t i = 0; i < *count; ++i)
    choices.push_back(samplers::external_value(distribution, samplers::value_at(distribution, i)));
  return to_json(choices, -1);
}

/// Shows the search space and the baseline without running a trial.
int finish_dry_run(const SearchTask& task, Output& output) {
  passes::ReportTable table{"Search space", {"Parameter", "Choices", "When"}, {}, ""};
  for (const samplers::Dimension& dimension : task.space().dimensions()) {
    table.rows.push_back({dimension.name, choices_text(dimension.distribution),
                          dimension.condition ? dimension.condition->parent : ""});
  }
  output.table(table);
  const auto count = samplers::configurations(task.space().dimensions());
  output.text("configurations: " + (count ? std::to_string(*count) : "more than 2^62"));
  output.document()["configurations"] = count ? Tree(*count) : Tree();
  output.document()["space"] = task.configuration().at("space");
  output.document()["baseline"] = task.baseline();
  output.finish();
  return 0;
}

/// Allows access to a database outside the project. SQLite keeps a journal next to its file.
void reach_storage(const std::string& url) {
  constexpr std::string_view sqlite = "sqlite:///";
  const bool named = url.starts_with(sqlite), is_path = url.find("://") == std::string::npos;
  if (!named && !is_path) return sandbox::may_connect();
  const std::string folder =
      std::filesystem::path(named ? url.substr(sqlite.size()) : url).parent_path();
  sandbox::may_write(folder.empty() ? "." : folder);
}

/// The options of --launch, or nothing without it.
std::optional<LaunchOptions> launch_options(const SearchRequest& request) {
  LaunchOptions options;
  Diagnostics diagnostics;
  read_fields(request.launch, options, diagnostics);
  diagnostics.throw_if_errors();
  if (options.launch) return options;
  if (request.launch.size() > 0)
    config_error(request.launch.as_dict().begin()->second.where.file + " needs --launch");
  return std::nullopt;
}

/// Where a search has its study and its results.
struct Places {
  std::string folder, url, study;
  bool in_project;  ///< whether the study lies in the project

  Places(const Session& session, const search::Setup& setup)
      : folder(session.software_folder() + "/search"),
        url(setup.storage.value_or("sqlite:///" + folder + "/study.db")),
        study(setup.study.value_or(project_name(session.settings()))),
        in_project(!setup.storage) {}

  WorkerPlaces for_workers() const { return {url, study, folder + "/workers"}; }

  void make() const {
    make_folder(folder);
    // SQLite opens these files itself.
    for (const char* file : {"", "-journal", "-wal", "-shm"})
      place_to_write(folder + "/study.db" + file);
  }
};

/// The store of --store; null without one, and where nothing is to be copied.
std::unique_ptr<SearchStore> store_of(const search::Setup& setup, const Session& session,
                                      bool is_dry_run) {
  if (!setup.store) return nullptr;
  const Store store(*setup.store, setup.storage_timeout);
  return is_dry_run ? nullptr : std::make_unique<SearchStore>(store, session);
}

/// Runs the trials of this process, or follows the workers of a launch. Returns "" or why the study
/// is not complete.
std::string run_trials(const search::Plan& plan, Follower& follower, Launcher* launcher,
                       SearchStore* store) {
  const search::OnTrial tell = [&](const Record& record) {
    follower(record);
    if (store) store->take(record);
  };
  if (!launcher) {
    const std::string reason = search::run_workers(plan, tell, interrupt_flag());
    return reason.empty()
               ? ""
               : "the search stops: ten trials in a row failed for the same reason: " + reason;
  }
  const std::string problem = follow_workers(*launcher, plan, tell);
  follower.clear();
  if (!problem.empty()) return problem + "; the same command goes on";
  search::run_workers(plan, tell, interrupt_flag());  // finds what the report needs, and no trial
  return "";
}

/// Waits for the store, and adds what could not be copied to the problem of a search.
void add_problem(std::string& problem, SearchStore* store) {
  const std::string left = store ? store->finish() : "";
  if (problem.empty() && !left.empty()) problem = left + "; the same command tries it again";
}

/// Writes and prints the results. Returns the exit code.
int finish_search(const SearchTask& task, Session& session, const search::Plan& plan,
                  const Allocator& allocator, const std::string& folder, std::string problem,
                  SearchStore* store) {
  search::StudyResult result = read_result(task, plan);
  allocator.add_to(result);
  search::write_results(result, folder);
  write_file(folder + "/config.toml", resolved_toml(session.configuration));
  GetCheckpoint get;
  if (store) get = std::bind_front(&SearchStore::get, store);
  const std::vector<std::string> folders = write_points(task, session, result, folder, get);
  print_result(task, result, folders, folder, session.output);
  confirm_points(task, session, result, folder, session.output);
  read_leading_bits(result, folder);
  search::write_report(result, folder);
  if (store) store->put_results(result, folder);
  session.output.finish();
  add_problem(problem, store);
  if (interrupt_flag()) {
    log::warning("stopped; the same command continues the study");
    return static_cast<int>(Fault::interrupted);
  }
  if (!problem.empty()) log::error(problem);
  if (!folders.empty()) return problem.empty() ? 0 : static_cast<int>(Fault::file);
  if (!result.options.constraints.empty()) explain_infeasible(result);
  return static_cast<int>(Fault::goal);
}

/// What a search without results of its own returns.
int finish_trials(const Follower& follower, std::string problem, Output& output,
                  SearchStore* store) {
  add_problem(problem, store);
  output.document()["trials"] = follower.done();
  output.finish();
  if (interrupt_flag()) return static_cast<int>(Fault::interrupted);
  if (!problem.empty()) log::error(problem);
  return problem.empty() ? 0 : static_cast<int>(Fault::goal);
}

}  // namespace

int search(const SearchRequest& request) {
  const std::optional<LaunchOptions> launch = launch_options(request);
  Session session = open_session(request);
  search::Options options = search_options(session, request.setup);
  const Places places(session, options.setup);
  const bool uses_project = places.in_project || !request.trials_only;
  if (uses_project) work_in_project(session.settings());
  std::optional<Launcher> launcher;
  if (launch) {
    const auto commands =
        worker_commands(*launch, options.setup, places.for_workers(), request.print);
    const bool needs_password = !handed_on(split_password(places.url)).empty();
    if (request.print) return Output(false).text(script_of(commands, needs_password)), 0;
    make_folder(places.for_workers().logs);
    launcher.emplace(commands, places.for_workers().logs);
  }
  const auto store = store_of(options.setup, session, request.dry_run);
  if (options.setup.storage) reach_storage(*options.setup.storage);
  if (!options.needed_programs().empty()) sandbox::may_run_any_program();
  SearchTask task(session, std::move(options), request.input);
  if (uses_project) places.make();
  search::Plan plan = task.plan(places.url, places.study);
  Allocator allocator(plan, request);
  if (uses_project) log::info("results go to " + places.folder);
  if (request.dry_run) return finish_dry_run(task, session.output);
  if (store) store->join(task, plan);

  Follower follower(task.options(), request);
  const FinishFirst finish;
  const std::string problem =
      run_trials(plan, follower, launcher ? &*launcher : nullptr, store.get());
  follower.clear();
  if (request.trials_only) return finish_trials(follower, problem, session.output, store.get());
  return finish_search(task, session, plan, allocator, places.folder, problem, store.get());
}

}  // namespace mase::driver
