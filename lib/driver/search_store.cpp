// SPDX-License-Identifier: Apache-2.0
// A trial is compared with the others of this process first, and only if it is good among them with
// all of the study.
#include "driver/search_store.hpp"

#include <algorithm>
#include <filesystem>

#include "base/file.hpp"
#include "base/log.hpp"
#include "driver/save_checkpoint.hpp"
#include "driver/store/stored_points.hpp"
#include "sandbox/policy.hpp"
#include "search/results/result_rows.hpp"
#include "search/samplers/pareto.hpp"
#include "search/storage/encode.hpp"

namespace mase::driver {
namespace {

using storage::Record;

StoredStudy about_study(const storage::Study& study, const search::Plan& plan) {
  StoredStudy about{study.name, "", storage::direction_words(study.directions), {}};
  if (const Tree* id = study.system.find(search::id_attribute)) about.id = id->as_string();
  for (const search::Goal& goal : plan.options.goals) about.objectives.push_back(goal.metric);
  if (plan.options.setup.sum_scaled_metrics) about.objectives = {"sum_scaled_metrics"};
  return about;
}

Tree parameters_in(const Record& record, const samplers::Space& space) {
  Tree parameters = Tree::dict();
  for (const samplers::Dimension& dimension : space) {
    const auto value = record.trial.params.find(dimension.name);
    if (value != record.trial.params.end())
      parameters[dimension.name] = samplers::external_value(dimension.distribution, value->second);
  }
  return parameters;
}

}  // namespace

SearchStore::SearchStore(const Store& store, const Session& session)
    : session_(session), address_(store.address()), writer_(store) {
  for (const char* part : {"points", "fetched"}) sandbox::may_write(folder_.make(part));
}

void SearchStore::join(const SearchTask& task, search::Plan& plan) {
  task_ = &task;
  plan_ = &plan;
  storage_ = plan.open();
  const StoredStudy study = about_study(search::open_study(*storage_, plan), plan);
  log::info("reaching the store " + address_);
  StoreWriter::Failure failed;
  writer_.claim(to_json(to_tree(study), -1), [&](const auto& failure) { failed = failure; });
  writer_.wait();
  if (failed) throw *failed;
  plan.evaluate = [this](const samplers::Params& params, const search::Report& report) {
    ir::Graph made;
    search::Measured measured = task_->measure(params, report, &made);
    const std::lock_guard lock(keeping_);
    models_[std::this_thread::get_id()] = std::move(made);
    return measured;
  };
}

std::optional<ir::Graph> SearchStore::kept_model() {
  const std::lock_guard lock(keeping_);
  auto node = models_.extract(std::this_thread::get_id());
  return node ? std::optional(std::move(node.mapped())) : std::nullopt;
}

/// Whether the trial is one of the best of all that are finished.
bool SearchStore::is_best(const Record& record) {
  const auto directions = plan_->options.directions();
  front_.push_back(samplers::without_attributes(record.trial));
  std::vector<samplers::Trial> best;
  for (const std::size_t index : samplers::best_trials(front_, directions))
    best.push_back(front_[index]);
  front_ = std::move(best);
  const auto has_number = [&](const samplers::Trial& trial) {
    return trial.number == record.trial.number;
  };
  if (std::ranges::none_of(front_, has_number)) return false;
  const storage::Study study = search::open_study(*storage_, *plan_);
  std::vector<samplers::Trial> all;
  for (const Record& other : storage_->trials(study))
    all.push_back(samplers::without_attributes(other.trial));
  return std::ranges::any_of(samplers::best_trials(all, directions),
                             [&](std::size_t index) { return has_number(all[index]); });
}

/// The transform.toml of a point, which names the checkpoint in the store.
std::string SearchStore::configuration_of(const Record& record) const {
  return task_->transform_toml(
      record.trial.params,
      address_ + "/" + point_name(record.trial.number) + "/" + std::string(stored_checkpoint));
}

/// Where a point lies until it is copied.
std::string SearchStore::folder_of(const Record& record) const {
  return folder_.file("points/" + std::to_string(record.trial.number));
}

/// Writes transform.toml and point.json beside the checkpoint.
void SearchStore::describe(const Record& record) const {
  const std::string folder = folder_of(record) + "/";
  write_file(folder + std::string(stored_configuration), configuration_of(record));
  Tree about = Tree::dict();
  about["study"] = plan_->study;
  about["number"] = record.trial.number;
  about["values"] = Tree::list_of(record.trial.values);
  about["metrics"] = search::metrics_of(record);
  about["parameters"] = parameters_in(record, task_->space().dimensions());
  for (const std::string_view name : {stored_checkpoint, stored_configuration})
    about["files"][name] = file_entry(folder + std::string(name));
  write_file(folder + point_file, to_json(about) + "\n");
}

void SearchStore::put(const Record& record) {
  describe(record);
  const std::int64_t number = record.trial.number;
  const std::string folder = folder_of(record);
  stored_.insert(number);
  writer_.put_point(folder, [=, this](const StoreWriter::Failure& failure) {
    if (failure) stored_.erase(number);
    tell("trial " + std::to_string(number), failure);
    std::error_code error;
    std::filesystem::remove_all(folder, error);
  });
}

void SearchStore::tell(const std::string& what, const StoreWriter::Failure& failure) {
  if (!failure) return;
  log::warning(what + " is not in the store: " + failure->what());
  problem_ = what + " is not in the store: " + failure->what();
}

void SearchStore::take(const Record& record) {
  writer_.look();
  const std::optional<ir::Graph> model = kept_model();
  if (!model || !is_best(record)) return;
  try {
    save_checkpoint(*model, folder_of(record) + "/" + std::string(stored_checkpoint),
                    checkpoint_info(session_, configuration_of(record)));
    put(record);
  } catch (const Error& error) {
    if (error.fault() == Fault::internal) throw;
    tell("trial " + std::to_string(record.trial.number), error);
  }
}

std::optional<std::string> SearchStore::get(const Record& record) {
  const std::int64_t number = record.trial.number;
  const std::string folder = folder_.make("fetched"),
                    copy = folder + "/" + std::string(stored_checkpoint);
  remove_file(copy);
  writer_.wait();
  writer_.get_checkpoint(number, to_json(parameters_in(record, task_->space().dimensions()), -1),
                         folder, [&](const StoreWriter::Failure& failure) {
                           if (failure)
                             log::warning("trial " + std::to_string(number) +
                                          " is measured again: " + failure->what());
                         });
  writer_.wait();
  if (!file_exists(copy)) return std::nullopt;
  stored_.insert(number);
  return copy;
}

void SearchStore::put_results(const search::StudyResult& result, const std::string& folder) {
  writer_.wait();
  problem_.clear();
  for (const std::size_t index : result.best()) {
    const Record& record = result.trials[index];
    const std::string checkpoint =
        folder + "/" + point_name(record.trial.number) + "/" + std::string(stored_checkpoint);
    if (stored_.contains(record.trial.number) || !file_exists(checkpoint)) continue;
    copy_checkpoint(checkpoint, folder_of(record) + "/" + std::string(stored_checkpoint));
    put(record);
  }
  writer_.put_files(
      folder,
      {"best.json", "log.json", "trials.csv", "sensitivity.csv", "config.toml", "report.html"},
      [this](const auto& failure) { tell("the report", failure); });
}

std::string SearchStore::finish() {
  if (writer_.waiting() > 0) log::info("copying to " + address_);
  writer_.wait();
  return problem_;
}

}  // namespace mase::driver
