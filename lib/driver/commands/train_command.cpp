// SPDX-License-Identifier: Apache-2.0
// `mase train` trains in the project folder and keeps the best and the last checkpoint.
#include <filesystem>
#include <utility>

#include "backend/backend.hpp"
#include "base/file.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "checkpoint/archive.hpp"
#include "driver/batch_lengths.hpp"
#include "driver/ranks.hpp"
#include "driver/session.hpp"
#include "report/event_file.hpp"
#include "sandbox/policy.hpp"

namespace mase::driver {
namespace {

constexpr const char* state_file = "mase/train_state.bin";

/// The figures of several outputs are preceded by the loss that training minimises.
std::string metrics_text(const data::Figures& figures) {
  const std::string text = data::figures_text(figures.all);
  return figures.find("loss") ? text : "loss " + fixed_text(figures.loss, 4) + "; " + text;
}

/// Adds "validation_accuracy" and so on, with `prefix` "validation_".
void add_figures(Tree& entry, const std::string& prefix, const data::Figures& figures) {
  entry[prefix + "loss"] = figures.loss;
  for (const data::Figure& figure : figures.all) entry[prefix + figure.name] = figure.value;
}

std::string progress_text(const backend::Progress& p) {
  const double share = p.steps > 0 ? double(p.step) / double(p.steps) : 0.0;
  const auto filled = static_cast<std::size_t>(share * 24);
  const double left = p.steps_per_second > 0 ? double(p.steps - p.step) / p.steps_per_second : 0.0;
  return "epoch " + std::to_string(p.epoch + 1) + "/" + std::to_string(p.epochs) + " [" +
         std::string(filled, '#') + std::string(24 - filled, '.') + "] step " +
         std::to_string(p.step) + "/" + std::to_string(p.steps) + "  loss " +
         fixed_text(p.loss, 4) + "  " + fixed_text(p.steps_per_second, 0) + " steps/s  ETA " +
         duration_text(left);
}

/// Shows progress and writes the curves for TensorBoard.
class Reporter {
 public:
  Reporter(Session& session, bool quiet)
      : output_(session.output), line_(!quiet && !session.output.is_json()) {
    if (session.settings().general.report_to == "tensorboard")
      events_.emplace(session.software_folder() + "/tensorboard");
  }

  void operator()(const backend::Progress& p) {
    if (events_) {
      events_->scalar("train_loss_step", p.step, p.loss);
      events_->scalar("lr", p.step, p.learning_rate);
    }
    if (!p.validation) {
      line_.show(progress_text(p));
      return;
    }
    line_.clear();
    output_.text("epoch " + std::to_string(p.epoch) + "/" + std::to_string(p.epochs) +
                 ": train loss " + fixed_text(p.loss, 4) + ", validation " +
                 metrics_text(*p.validation));
    Tree entry = Tree::dict();
    entry["epoch"] = p.epoch;
    entry["step"] = p.step;
    entry["train_loss"] = p.loss;
    add_figures(entry, "validation_", *p.validation);
    output_.document()["epochs"].push_back(std::move(entry));
    if (!events_) return;
    events_->scalar("val_loss_epoch", p.step, p.validation->loss);
    for (const data::Figure& figure : p.validation->all)
      if (figure.name != "loss") events_->scalar(event_name(figure.name), p.step, figure.value);
    events_->flush();
  }

 private:
  /// Accuracy has the name that the reference gives it.
  static std::string event_name(const std::string& figure) {
    return "val_" + (figure == "accuracy" ? "acc" : figure) + "_epoch";
  }

  Output& output_;
  ProgressLine line_;
  std::optional<report::EventFile> events_;
};

void save_snapshot(const backend::Snapshot& snapshot, const std::string& folder, const Tree& info) {
  Tree now = info;
  now["training"]["step"] = snapshot.step;
  now["training"]["epoch"] = snapshot.epoch;
  if (snapshot.best)
    backend::open().export_model(*snapshot.deployed, folder + "/best.pt",
                                 checkpoint::extra_files(*snapshot.deployed, now));
  if (!snapshot.last) return;
  auto files = checkpoint::extra_files(*snapshot.graph, now);
  files[state_file] = snapshot.state;
  backend::open().export_model(*snapshot.graph, folder + "/last.pt", files);
}

/// Replaces the model by the last checkpoint and returns the trainer's state in it. A run that was
/// stopped before its first checkpoint, but has a configuration, has no state and starts again.
std::string resume_state(const std::string& folder, LoadedModel& model) {
  const std::string path = folder + "/last.pt";
  if (!file_exists(path) && file_exists(folder + "/config.toml")) {
    log::info("--resume: the run was stopped before its first checkpoint and starts again");
    return "";
  }
  if (!file_exists(path)) file_error("--resume: there is no " + path + " to resume from");
  auto files = checkpoint::read_extra_files(path);
  const auto state = files.find(state_file);
  if (state == files.end()) file_error(path + " has no training state to resume from");
  model.graph = load_checkpoint(path).graph;
  return state->second;
}

/// Refuses to overwrite checkpoints, which may have taken hours to train.
void refuse_overwriting(const std::string& folder) {
  for (const char* name : {"/last.pt", "/best.pt"})
    if (file_exists(folder + name))
      config_error(folder + name +
                   " already exists: --resume continues that training, --overwrite replaces "
                   "it, --project NAME keeps both");
}

void print_result(const backend::TrainResult& result, const std::string& folder, Output& output) {
  output.text("\ntrained " + std::to_string(result.steps) + " steps in " +
              std::to_string(result.epochs) + " epochs" +
              (result.stopped_early ? ", stopped early" : "") + "; best validation " +
              metrics_text(result.best_validation));
  output.text("checkpoints: " + folder + "/best.pt, " + folder + "/last.pt");
  Tree& document = output.document();
  document["steps"] = result.steps;
  document["stopped_early"] = result.stopped_early;
  add_figures(document["best_validation"], "", result.best_validation);
  document["best_checkpoint"] = folder + "/best.pt";
  document["last_checkpoint"] = folder + "/last.pt";
}

/// When training is resumed, puts the epochs recorded earlier before the new ones.
void prepend_epochs(Session& session) {
  const std::string path = record_path(project_folder(session.settings()), "train");
  Tree& document = session.output.document();
  if (!file_exists(path) || !document.find("epochs")) return;
  const Tree earlier = parse_json(read_file(path), path);
  const Tree* epochs = earlier.is_dict() ? earlier.find("document") : nullptr;
  epochs = epochs && epochs->is_dict() ? epochs->find("epochs") : nullptr;
  if (!epochs || !epochs->is_list()) return;
  const std::int64_t first = document["epochs"].as_list().front().at("epoch").as_int();
  Tree all = Tree::list();
  for (const Tree& epoch : epochs->as_list())
    if (epoch.is_dict() && epoch.find("epoch") && epoch.at("epoch").is_int() &&
        epoch.at("epoch").as_int() < first)
      all.push_back(epoch);
  for (const Tree& epoch : document["epochs"].as_list()) all.push_back(epoch);
  document["epochs"] = std::move(all);
}

/// Who this process is among those that train together. All but rank 0 train for rank 0: they write
/// nothing, read the checkpoint that is resumed, and say only what is wrong.
backend::Ranks join_ranks(const TrainRequest& request, const Session& session) {
  const backend::Ranks ranks = ranks_of_environment(request.timeout);
  if (ranks.several()) sandbox::may_meet_processes();
  if (ranks.rank == 0)
    work_in_project(session.settings());
  else
    sandbox::may_read(project_folder(session.settings()));
  return ranks;
}

/// Trains for rank 0, which does everything else.
int train_as_helper(const TrainRequest& request, Session& session, const data::Dataset& dataset,
                    const std::string& folder, const backend::Ranks& ranks) {
  if (!request.resume && !request.overwrite) refuse_overwriting(folder);
  log::set_level(log::Level::error);
  LoadedModel model = load_session_model(session, request.input);
  group_batches_by_length(session, model.graph);
  const std::string resume = request.resume ? resume_state(folder, model) : "";
  backend::TrainOptions options = session.settings().train;
  options.teacher = load_teacher(session, request.input);
  options.ranks = ranks;
  backend::open().train(model.graph, dataset, options, {}, resume);
  return 0;
}

}  // namespace

int train(const TrainRequest& request) {
  if (request.nproc > 1 && !launched_here())
    return launch_ranks(request.nproc, "--resume goes on from the last checkpoint");
  Session session = open_session(request);
  const backend::Ranks ranks = join_ranks(request, session);
  const bool has_teacher = session.settings().general.teacher.has_value();
  const data::Dataset& dataset =
      has_teacher ? require_dataset(session) : require_labels(session, "training");
  const std::string folder = session.software_folder() + "/training_ckpts";
  backend::open();  // enters the sandbox before the lock starts a thread
  if (ranks.rank > 0) return train_as_helper(request, session, dataset, folder, ranks);
  const FolderLock lock = lock_project(session, "mase train");
  if (!request.resume && !request.overwrite) refuse_overwriting(folder);
  LoadedModel model = load_session_model(session, request.input);
  group_batches_by_length(session, model.graph);
  const std::string resume = request.resume ? resume_state(folder, model) : "";
  make_folder(folder);
  const std::string resolved = resolved_toml(session.configuration);
  // A previous result keeps its own configuration until the first new checkpoint.
  bool replaces = file_exists(folder + "/last.pt");
  const auto write_config = [&] { write_file(folder + "/config.toml", resolved); };
  if (!replaces) write_config();
  const Tree info = checkpoint_info(session, resolved);
  log::info("results go to " + folder);
  backend::TrainOptions options = session.settings().train;
  options.teacher = load_teacher(session, request.input);
  options.ranks = ranks;
  Reporter reporter(session, request.quiet);
  backend::TrainCallbacks callbacks;
  callbacks.progress = [&](const backend::Progress& progress) { reporter(progress); };
  callbacks.save = [&](const backend::Snapshot& snapshot) {
    save_snapshot(snapshot, folder, info);
    if (std::exchange(replaces, false)) write_config();
  };
  const backend::TrainResult result =
      backend::open().train(model.graph, dataset, options, callbacks, resume);
  print_result(result, folder, session.output);
  if (request.resume) prepend_epochs(session);
  session.output.record(project_folder(session.settings()), "train");
  session.output.finish();
  return 0;
}

}  // namespace mase::driver
