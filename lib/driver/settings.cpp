// SPDX-License-Identifier: Apache-2.0
// Merges, names and prints the settings in loops over their declarations.
#include "driver/settings.hpp"

#include <chrono>
#include <ctime>
#include <map>
#include <set>

#include "base/file.hpp"
#include "base/text.hpp"
#include "data/task.hpp"
#include "report/table.hpp"

namespace mase::driver {
namespace {

/// Flags that differ from the field's name: those of the reference, and short ones.
const std::map<std::string, std::vector<std::string>>& flag_names() {
  static const std::map<std::string, std::vector<std::string>> names{
      {"load_name", {"--load", "--load-name"}},
      {"to_debug", {"--debug"}},
      {"num_workers", {"--cpu", "--num-workers"}},
      {"num_devices", {"--gpu", "--num-devices"}},
      {"num_nodes", {"--nodes"}},
      {"n_trials", {"--trials", "--n-trials"}},
      {"n_jobs", {"--jobs", "--n-jobs"}},
      {"clock_mhz", {"--clock"}},
      {"top_name", {"--top"}},
      {"initiation_interval", {"--initiation-interval", "--ii"}},
  };
  return names;
}

using Commands = std::set<std::string>;

/// The subcommands in which a setting has an effect, for settings that do not matter everywhere.
std::map<std::string, Commands> make_uses() {
  const Commands with_torch{"train", "search", "test", "transform"};
  std::map<std::string, Commands> uses;
  for (const std::string& name : field_names<backend::TrainOptions>())
    uses[name] = {"train", "search"};
  for (const std::string& name : field_names<data::DataOptions>())
    uses[name] = {"train", "search", "test", "transform", "simulate"};
  for (const char* name : {"batch_size", "threads", "device", "load_name", "load_type"})
    uses[name] = with_torch;
  uses["seed"] = {"train", "search", "test", "transform", "simulate", "emit"};
  uses["group_by_length"] = {"train", "search", "test"};
  uses["report_to"] = {"train"};
  uses["teacher"] = {"train", "search"};
  uses["codes_only"] = {"transform"};
  for (const std::string_view name : General::ignored) uses[std::string(name)] = {};
  uses["accelerator"] = {};  // device says more
  return uses;
}

/// Applies the settings of the file or the command line. Tables are left to the commands.
void apply(const Tree& source, Settings& settings, Diagnostics& diagnostics) {
  for_each_setting(settings, [&](auto& part, const auto& field) {
    if (const Tree* entry = source.find(field.name))
      field_detail::read_value(*entry, field.name, field.rules, part.*(field.member), diagnostics);
  });
}

std::string cell(const Tree* value) {
  if (!value) return "";
  return value->is_string() ? value->as_string() : to_json(*value, -1);
}

std::string today() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm local{};
  localtime_r(&now, &local);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", &local);
  return text;
}

std::string last_component(const std::string& path) {
  std::string name = split(path, '/').back();
  const auto dot = name.rfind('.');
  return dot == std::string::npos || dot == 0 ? name : name.substr(0, dot);
}

}  // namespace

std::vector<FieldInfo> describe_settings() {
  std::vector<FieldInfo> all = describe_fields<General>();
  for (auto& info : describe_fields<backend::TrainOptions>()) all.push_back(info);
  for (auto& info : describe_fields<data::DataOptions>()) all.push_back(info);
  return all;
}

std::vector<FieldInfo> describe_data_settings() {
  std::vector<FieldInfo> some = describe_init_settings();
  std::erase_if(some, [](const FieldInfo& info) { return info.name == "model"; });
  return some;
}

std::vector<FieldInfo> describe_init_settings() {
  std::vector<FieldInfo> some = describe_fields<data::DataOptions>();
  for (FieldInfo& info : describe_fields<General>())
    if (info.name == "model" || info.name == "dataset") some.push_back(std::move(info));
  return some;
}

std::vector<std::string> setting_names() {
  std::vector<std::string> names;
  for (const FieldInfo& info : describe_settings()) names.push_back(info.name);
  return names;
}

bool setting_matters(const std::string& setting, const std::string& command) {
  static const std::map<std::string, Commands> uses = make_uses();
  const auto found = uses.find(setting);
  return found == uses.end() || found->second.contains(command);
}

std::vector<std::string> setting_flags(const std::string& name) {
  const auto special = flag_names().find(name);
  if (special != flag_names().end()) return special->second;
  return {"--" + replace_all(name, "_", "-")};
}

std::vector<std::string> config_tables() {
  return {"passes",  "pass", "transform",  "search", "outputs",
          "cf_args", "text", "custom_ops", "metrics"};
}

Settings merge_settings(const SettingSources& sources, Diagnostics& diagnostics) {
  std::vector<std::string> allowed = setting_names();
  for (const std::string& table : config_tables()) allowed.push_back(table);
  for (const auto& [key, entry] : sources.file.as_dict())
    report_unknown_key(entry, key, allowed, diagnostics);
  Settings settings;
  apply(sources.file, settings, diagnostics);
  apply(sources.command_line, settings, diagnostics);
  if (settings.general.to_debug) settings.general.log_level = "debug";
  return settings;
}

std::string settings_table(const SettingSources& sources, const Settings& effective, bool all) {
  const Tree defaults = settings_tree(Settings{}), now = settings_tree(effective);
  const bool with_file = !sources.config_path.empty();
  std::vector<std::string> header{"Name", "Default", "Manual Override", "Effective"};
  if (with_file) header.insert(header.begin() + 2, "Config. File");
  std::vector<std::vector<std::string>> rows;
  for (const std::string& name : setting_names()) {
    const bool given = sources.give(name);
    if (!all && !given && defaults.at(name) == now.at(name)) continue;
    std::vector<std::string> row{name, cell(defaults.find(name))};
    if (with_file) row.push_back(cell(sources.file.find(name)));
    row.push_back(cell(sources.command_line.find(name)));
    row.push_back(cell(now.find(name)));
    rows.push_back(std::move(row));
  }
  if (rows.empty()) return "";
  std::vector<report::Align> align(header.size(), report::Align::center);
  align.front() = report::Align::left;
  return report::boxed(header, rows, align, 24);
}

Tree settings_tree(const Settings& effective) {
  Tree out = Tree::dict();
  for_each_setting(effective, [&](const auto& part, const auto& field) {
    out[field.name] = field_detail::write_value(part.*(field.member));
  });
  return out;
}

std::string task_name(const Settings& settings) {
  if (settings.data.task) return settings.data.task->name;
  const General& general = settings.general;
  const data::DatasetRow* row = general.dataset ? data::find_dataset(*general.dataset) : nullptr;
  return row ? row->task : data::task_table().front().name;
}

std::string project_name(const Settings& settings) {
  const General& g = settings.general;
  const std::string model = g.model ? last_component(*g.model) : "model";
  const std::string generated = replace_all(model, "/", "-") + "_" + task_name(settings) + "_" +
                                g.dataset.value_or("none") + "_" + today();
  return g.project.value_or(generated);
}

std::string project_folder(const Settings& settings) {
  if (settings.general.project_dir.empty())
    config_error("project_dir is empty; use '.' for the current folder");
  const std::string name = project_name(settings);
  if (!stays_inside(name))
    config_error("project '" + name + "' is not the name of a folder in project_dir (" +
                 settings.general.project_dir + "); use --project-dir for another place");
  return settings.general.project_dir + "/" + name;
}

}  // namespace mase::driver
