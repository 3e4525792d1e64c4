// SPDX-License-Identifier: Apache-2.0
// Compares the settings of data one by one, in a loop over their fields.
#include "driver/stored_data.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "checkpoint/archive.hpp"
#include "config/toml.hpp"
#include "driver/config_file.hpp"
#include "driver/folder_settings.hpp"
#include "driver/loading/sources.hpp"
#include "driver/project.hpp"

namespace mase::driver {
namespace {

using data::Decides;

template <class Field>
Decides decided_by(const Field& field) {
  if constexpr (requires { field.decides; }) return field.decides;
  return Decides::numbers;
}

std::string assignment(std::string_view setting, const Tree& value) {
  return std::string(setting) + " = " + (value == Tree("NA") ? "NA" : to_json(value, -1));
}

/// Reads the table "data" of a checkpoint, or its configuration, whose other keys are left alone.
StoredData read_stored(const Tree& table, const std::string& path) {
  StoredData stored{path, std::nullopt, {}};
  Diagnostics diagnostics;
  if (const Tree* name = table.find("dataset"); name && *name != Tree("NA") && name->is_string())
    stored.dataset = name->as_string();
  for_each_field<data::DataOptions>([&](const auto& field) {
    if (const Tree* entry = table.find(field.name))
      field_detail::read_value(*entry, field.name, field.rules, stored.options.*(field.member),
                               diagnostics);
  });
  if (const Tree* outputs = table.find("outputs"))
    read_outputs(*outputs, stored.options.outputs, diagnostics);
  diagnostics.throw_if_errors();
  return stored;
}

std::optional<Tree> info_of(const std::string& path) {
  if (is_quantized_folder(path)) return quantized_folder_info(path);
  if (!may_be_checkpoint(path)) return std::nullopt;
  return checkpoint::info_in(checkpoint::read_extra_files(path), path);
}

std::optional<StoredData> stored_in(const std::string& path) {
  const auto info = info_of(path);
  return info ? data_in(*info, path) : std::nullopt;
}

bool is_same_dataset(const std::string& a, const std::string& b) {
  return a == b || (data::find_dataset(a) && data::find_dataset(a) == data::find_dataset(b));
}

/// Takes the settings of the checkpoint one by one, and collects what there is to say.
struct Comparison {
  const StoredData& stored;
  const SettingSources& sources;
  bool same_dataset, same_place;
  std::vector<std::string> taken{}, differing{}, here{}, missed{};

  template <class Value>
  void follow(std::string_view setting, Decides decides, Value& now, const Value& then) {
    const Tree value = field_detail::write_value(now), old = field_detail::write_value(then);
    if (decides == Decides::speed || value == old) return;
    if (setting == "data_dir" && sources.give(setting)) return;
    const bool comparable = decides == Decides::rows ? same_place : same_dataset;
    if (!sources.give(setting) && comparable) {
      now = then;
      taken.push_back(assignment(setting, old));
    } else if (sources.give(setting) && comparable && decides != Decides::targets) {
      differing.push_back(assignment(setting, old));
      here.push_back(assignment(setting, value));
    } else if (!comparable && decides == Decides::numbers) {
      missed.push_back(assignment(setting, old));
    }
  }

  void tell(const std::string& dataset) const {
    if (!taken.empty()) log::info("taken from " + stored.path + ": " + join(taken, ", "));
    if (!differing.empty())
      log::warning("the model of " + stored.path + " was made with " + join(differing, ", ") +
                   "; this command reads rows with " + join(here, ", ") +
                   ", which may be other numbers than the model expects");
    if (!missed.empty())
      log::warning("the model of " + stored.path + " was made on data set " + *stored.dataset +
                   " with " + join(missed, ", ") + "; data set " + dataset +
                   " is read without. Give these settings as well if they fit its rows");
  }
};

/// Whether these are the rows of the checkpoint, which may have been moved.
bool has_same_place(const StoredData& stored, const std::string& data_dir) {
  const std::string& place = stored.options.data_dir;
  std::error_code error;
  if (data_dir == place) return true;
  if (data_dir.empty() || place.empty()) return false;
  return !std::filesystem::exists(place, error) ||
         std::filesystem::equivalent(place, data_dir, error);
}

/// Error(Fault::file) for a folder or file that the checkpoint names and that is gone.
void require_rows(const StoredData& stored) {
  const std::string& place = stored.options.data_dir;
  std::error_code error;
  if (place.empty() || std::filesystem::exists(place, error)) return;
  file_error(stored.path + " was made on data set " + *stored.dataset + " in " + place +
             ", which is not there; --data-dir DIR says where the rows are now");
}

}  // namespace

std::optional<StoredData> data_in(const Tree& info, const std::string& path) {
  if (!info.is_dict()) return std::nullopt;
  if (const Tree* data = info.find("data"); data && data->is_dict())
    return read_stored(*data, path);
  const Tree* configuration = info.find("configuration");
  if (!configuration || !configuration->is_string()) return std::nullopt;
  return read_stored(config::parse_toml(configuration->as_string(), path + ":mase/info.json"),
                     path);
}

Tree StoredData::tree() const {
  Tree out = write_fields(options);
  if (dataset) out["dataset"] = *dataset;
  for (const auto& [name, output] : options.outputs) out["outputs"][name] = write_fields(output);
  return out;
}

std::optional<StoredData> stored_data(const Settings& settings) {
  const General& general = settings.general;
  const bool is_state_dict = general.load_type == "pt" || general.load_type == "pl";
  for (const auto& path : {is_state_dict ? std::nullopt : general.load_name, general.model}) {
    auto found = path ? stored_in(*path) : std::nullopt;
    if (found && found->dataset) return found;
  }
  return std::nullopt;
}

void follow_stored_data(const StoredData& stored, const SettingSources& sources, DataSource source,
                        Settings& settings) {
  std::optional<std::string>& dataset = settings.general.dataset;
  const bool takes_dataset = !dataset && source == DataSource::of_model;
  if (takes_dataset) dataset = stored.dataset;
  if (!dataset) return;
  const bool same = is_same_dataset(*dataset, *stored.dataset);
  const bool names_place = sources.give("data_dir");
  const bool same_place = !names_place || has_same_place(stored, settings.data.data_dir);
  Comparison comparison{stored, sources, same, same && same_place};
  if (takes_dataset) comparison.taken.push_back(assignment("dataset", Tree(*dataset)));
  for_each_field<data::DataOptions>([&](const auto& field) {
    comparison.follow(field.name, decided_by(field), settings.data.*(field.member),
                      stored.options.*(field.member));
  });
  if (same && !sources.file.find("outputs") && !stored.options.outputs.empty()) {
    settings.data.outputs = stored.options.outputs;
    comparison.taken.emplace_back("the tables [outputs]");
  }
  comparison.tell(*dataset);
  if (same && !names_place) require_rows(stored);
}

void compare_stored_data(const std::string& model, Settings settings) {
  const auto stored = stored_in(model_file(model));
  if (!stored || !stored->dataset) return;
  SettingSources all_given;
  all_given.command_line = settings_tree(settings);
  follow_stored_data(*stored, all_given, DataSource::named, settings);
}

std::optional<data::Dataset> given_dataset(const std::vector<std::string>& models,
                                           const Tree& command_line) {
  Configuration configuration = read_configuration(Tree::dict(), "", command_line);
  const std::optional<std::string>& dataset = configuration.settings.general.dataset;
  if (!dataset) return std::nullopt;
  bool followed = false;
  for (const std::string& model : models) {
    const auto stored = stored_in(model_file(model));
    if (!stored || !stored->dataset) continue;
    if (std::exchange(followed, true))
      compare_stored_data(model, configuration.settings);
    else
      follow_stored_data(*stored, configuration.sources, DataSource::named, configuration.settings);
  }
  for (const std::string& model : models)
    follow_folder(model, configuration.sources, configuration.settings);
  return load_session_data(models.front(), configuration.settings);
}

}  // namespace mase::driver
