// SPDX-License-Identifier: Apache-2.0
// The settings of all commands. They are declared once and filled from defaults, configuration file
// and command line.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backend/device.hpp"
#include "backend/training.hpp"
#include "base/field.hpp"
#include "data/dataset.hpp"

namespace mase::driver {

/// The settings that concern neither training nor data.
struct General {
  std::optional<std::string> model;
  std::optional<std::string> submodule;
  std::optional<std::string> dataset;
  std::optional<std::string> teacher;
  std::optional<std::string> load_name;
  std::string load_type = "auto";
  bool to_debug = false;
  std::string log_level = "info";
  std::string report_to = "tensorboard";
  std::string trainer_precision = "32";
  int num_devices = 1;
  int num_nodes = 1;
  backend::DeviceName device;
  std::string accelerator = "auto";
  std::string strategy = "auto";
  int threads = 1;
  bool disable_dataset_cache = false;
  bool no_warnings = false;
  std::string project_dir = "mase_output";
  std::optional<std::string> project;
  bool codes_only = false;
  static constexpr auto fields() {
    using G = General;
    return std::tuple{
        Field{"model", &G::model,
              "name of a built-in model (`mase list models`), a model file, or a project's folder"},
        Field{"submodule", &G::submodule, "part of the model file to load, such as encoder.0"}
            .rare(),
        Field{"dataset", &G::dataset, "name of a data set (`mase list datasets`)"},
        Field{"teacher", &G::teacher,
              "float model or checkpoint whose outputs are the targets of training (distillation)"}
            .rare(),
        Field{"load_name", &G::load_name,
              "checkpoint, or project's folder, to load weights or a graph from"},
        Field{"load_type", &G::load_type,
              "type of that file: mz is of mase, pt is a state_dict, pl is of Lightning"}
            .one_of("auto", "mz", "pt", "pl")
            .rare(),
        Field{"to_debug", &G::to_debug,
              "log everything, and use at most 5 batches per part in train and test"}
            .rare(),
        Field{"log_level", &G::log_level, "least important message to show"}
            .one_of("debug", "info", "warning", "error", "critical")
            .rare(),
        Field{"report_to", &G::report_to, "where to write training curves"}
            .one_of("tensorboard", "none")
            .rare(),
        Field{"trainer_precision", &G::trainer_precision, "arithmetic of training"}.one_of("32"),
        Field{"num_devices", &G::num_devices, "devices to train on"}.between(1, 1),
        Field{"num_nodes", &G::num_nodes, "machines to train on"}.between(1, 1),
        Field{
            "device", &G::device,
            "where LibTorch computes: cpu; auto, the first accelerator that is there; or its name, "
            "as cuda, cuda:1, xpu or mps"}
            .rare(),
        Field{"accelerator", &G::accelerator, "device kind; gpu means the device auto"}
            .one_of("auto", "cpu", "gpu")
            .rare(),
        Field{"strategy", &G::strategy, "distribution strategy"}.one_of("auto"),
        Field{"threads", &G::threads, "threads of the tensor library"}.between(1, 4096).rare(),
        Field{"disable_dataset_cache", &G::disable_dataset_cache,
              "read data files again; no effect, because they always are"},
        Field{"no_warnings", &G::no_warnings, "hide warnings"}.rare(),
        Field{"project_dir", &G::project_dir, "folder of all results"},
        Field{"project", &G::project,
              "folder of this run in project_dir; if not given, MODEL_TASK_DATASET_DATE"},
        Field{"codes_only", &G::codes_only,
              "store quantized weights in checkpoints as codes only, without the floats"}};
  }
  /// Settings that have no effect; accepted because configurations of the reference have them.
  static constexpr std::array<std::string_view, 5> ignored{
      "trainer_precision", "num_devices", "num_nodes", "strategy", "disable_dataset_cache"};
};

/// All settings of a command.
struct Settings {
  General general;
  backend::TrainOptions train;
  data::DataOptions data;
};

/// Calls visit(struct, field) for every setting, in the order of the settings table.
template <class SettingsType, class Visitor>
void for_each_setting(SettingsType&& settings, Visitor&& visit) {
  for_each_field<General>([&](const auto& f) { visit(settings.general, f); });
  for_each_field<backend::TrainOptions>([&](const auto& f) { visit(settings.train, f); });
  for_each_field<data::DataOptions>([&](const auto& f) { visit(settings.data, f); });
}

/// Documentation of every setting, in the same order.
std::vector<FieldInfo> describe_settings();
std::vector<std::string> setting_names();
/// Those that `mase init` takes: model, data set, and the options of data sets.
std::vector<FieldInfo> describe_init_settings();
/// Those of commands that read rows and nothing else: data set, and the options of data sets.
std::vector<FieldInfo> describe_data_settings();

/// Whether the setting has an effect on the subcommand. All settings are accepted everywhere, so
/// that one file serves all subcommands; help shows only those that have an effect.
bool setting_matters(const std::string& setting, const std::string& command);

/// The command-line flags of a setting, such as "--learning-rate". Some settings have a second,
/// shorter flag ("--load").
std::vector<std::string> setting_flags(const std::string& name);

/// The names of the top-level tables of a configuration file that are not settings.
std::vector<std::string> config_tables();

/// Where each value comes from.
struct SettingSources {
  Tree file = Tree::dict();          ///< the parsed configuration file; empty if there is none
  Tree command_line = Tree::dict();  ///< settings given as flags
  std::string config_path;           ///< "" if there is no file

  /// Whether the user has given the setting.
  bool give(std::string_view setting) const {
    return file.find(setting) || command_line.find(setting);
  }
};

/// Merges the sources: default < file < command line. Collects the problems of all of them.
Settings merge_settings(const SettingSources& sources, Diagnostics& diagnostics);

/// The effective settings as a boxed table (Name, Default, Config. File, Manual Override,
/// Effective): those that were given or differ from their defaults, or all; "" if there are none.
std::string settings_table(const SettingSources& sources, const Settings& effective, bool all);
/// Every effective setting as a dict.
Tree settings_tree(const Settings& effective);

/// The task that was given, otherwise the task of the data set.
std::string task_name(const Settings& settings);

/// The project's name, which is generated if it was not given.
std::string project_name(const Settings& settings);
/// `<project_dir>/<project>`.
std::string project_folder(const Settings& settings);

}  // namespace mase::driver
