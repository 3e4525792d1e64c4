// SPDX-License-Identifier: Apache-2.0
// The first steps that commands working in a project folder share.
#include "driver/session.hpp"

#include "backend/backend.hpp"
#include "backend/targets.hpp"
#include "base/file.hpp"
#include "base/leftovers.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/writing_inside.hpp"
#include "data/task.hpp"
#include "driver/folder_settings.hpp"
#include "driver/loading/text_input.hpp"
#include "driver/project.hpp"
#include "driver/ranks.hpp"
#include "driver/save_checkpoint.hpp"
#include "sandbox/policy.hpp"

namespace mase::driver {
namespace {

void apply_log_settings(const General& general) {
  log::set_level(general.no_warnings ? log::Level::error : log::parse_level(general.log_level));
}

/// The device of the settings. Configurations of the reference system ask for any GPU.
void choose_device(const General& general, const SettingSources& sources) {
  const bool any = general.accelerator == "gpu" && !sources.give("device");
  if (any) log::info("accelerator = \"gpu\" means device = \"auto\"");
  backend::set_device(any ? "auto" : general.device.name, local_rank());
}

}  // namespace

Session open_session(const CommonRequest& request, Project project, DataSource source) {
  if (request.quiet && request.verbose) config_error("give only one of --quiet and --verbose");
  Session session{load_configuration(request.config_path, request.settings), Output(request.json),
                  std::nullopt, std::nullopt};
  if (project == Project::of_model)
    join_project(session.configuration.sources, session.configuration.settings);
  const Settings& settings = session.settings();
  sandbox::may_read_named(session.configuration.sources.file);
  apply_log_settings(settings.general);
  choose_device(settings.general, session.configuration.sources);
  if (request.quiet && settings.general.log_level == General().log_level)
    log::set_level(settings.general.no_warnings ? log::Level::error : log::Level::warning);
  session.stored = stored_data(settings);
  if (session.stored)
    follow_stored_data(*session.stored, session.configuration.sources, source,
                       session.configuration.settings);
  if (settings.general.model)
    follow_folder(*settings.general.model, session.configuration.sources,
                  session.configuration.settings);
  session.output.document()["settings"] = settings_tree(settings);
  const std::string table =
      settings_table(session.configuration.sources, settings, request.all_settings);
  if ((request.verbose || request.all_settings) && !table.empty()) session.output.text(table);
  if (!settings.general.model)
    config_error(
        "no model given: name one (`mase list models`) or a model file as MODEL or --model");
  keep_writes_inside(project_folder(settings));
  if (settings.general.dataset) {
    log::info("loading data set " + *settings.general.dataset);
    session.dataset = load_session_data(*settings.general.model, session.configuration.settings);
    session.output.document()["settings"] = settings_tree(settings);
    backend::TrainOptions options = settings.train;
    if (settings.general.teacher) options.loss.reset();  // it is for the teacher's outputs
    session.dataset->targets = backend::training_targets(*session.dataset, options);
  }
  return session;
}

Tree checkpoint_info(const Session& session, const std::string& resolved_configuration) {
  Tree info =
      checkpoint_info(resolved_configuration, session.dataset ? &*session.dataset : nullptr);
  if (!session.dataset && session.stored) info["data"] = session.stored->tree();
  return info;
}

void work_in_project(const Settings& settings) { sandbox::may_write(project_folder(settings)); }

FolderLock lock_project(const Session& session, const std::string& command) {
  const std::string folder = project_folder(session.settings());
  sweep_leftovers_below(folder);
  return {folder, command};
}

LoadedModel load_session_model(Session& session, const ModelInput& input) {
  const Settings& settings = session.settings();
  backend::set_threads(settings.general.threads);
  ModelRequest request;
  request.model = *settings.general.model;
  request.input = input;
  request.input.submodule = settings.general.submodule.value_or("");
  take_texts(session.configuration.texts, session.dataset.has_value(), request.input);
  take_text_options(settings.data, request.input);
  request.concrete = session.configuration.concrete;
  request.custom_ops = session.configuration.custom_ops;
  request.dataset = session.dataset ? &*session.dataset : nullptr;
  request.example_rows = settings.train.batch_size;
  request.seed = static_cast<std::uint64_t>(settings.train.seed);
  request.load_name = settings.general.load_name;
  request.load_type = settings.general.load_type;
  log::info("loading model " + request.model);
  return load_model(request);
}

std::shared_ptr<const ir::Graph> load_teacher(Session& session, const ModelInput& input) {
  const Settings& settings = session.settings();
  if (!settings.general.teacher) return nullptr;
  ModelRequest request;
  request.model = *settings.general.teacher;
  request.input = input;
  request.custom_ops = session.configuration.custom_ops;
  request.dataset = session.dataset ? &*session.dataset : nullptr;
  request.example_rows = settings.train.batch_size;
  log::info("loading teacher " + request.model);
  compare_stored_data(request.model, settings);
  LoadedModel teacher = load_model(request);
  if (teacher.untrained)
    log::warning("the teacher " + request.model + " has random weights; name a checkpoint instead");
  return std::make_shared<const ir::Graph>(std::move(teacher.graph));
}

const data::Dataset& require_dataset(const Session& session) {
  const std::string hint =
      session.stored ? "; " + session.stored->path + " was made on " + *session.stored->dataset
                     : "";
  if (!session.dataset)
    config_error("no data set given: name one (`mase list datasets`) as DATASET or --dataset" +
                 hint);
  return *session.dataset;
}

const data::Dataset& require_labels(const Session& session, const std::string& what,
                                    const std::string& other) {
  const data::Dataset& dataset = require_dataset(session);
  if (dataset.has_labels()) return dataset;
  const std::optional<data::TaskName>& task = session.settings().data.task;
  const bool left_out = task && !data::find_task(task->name).has_labels();
  config_error(what + " needs labels, and " +
               (left_out ? "task = \"" + task->name + "\" leaves out those of data set "
                         : "there are none in data set ") +
               dataset.name + (left_out ? "; leave task out" : "; add y.npy") +
               ". Without labels, " + other +
               " how far outputs are from those in float, and training follows the outputs of " +
               "--teacher MODEL");
}

ir::Level parse_level(const std::string& name) {
  if (name == "float") return ir::Level::floating;
  if (name == "quantized") return ir::Level::quantized;
  if (name == "integer") return ir::Level::integer;
  if (name == "rtl") return ir::Level::rtl;
  config_error("unknown level '" + name + "'; allowed: float | quantized | integer | rtl" +
               did_you_mean(name, {"float", "quantized", "integer", "rtl"}));
}

}  // namespace mase::driver
