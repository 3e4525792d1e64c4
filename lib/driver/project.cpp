// SPDX-License-Identifier: Apache-2.0
// A project is a folder with a folder software; commands write their checkpoints below that.
#include "driver/project.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/file.hpp"
#include "driver/output.hpp"
#include "driver/store/stored_points.hpp"
#include "models/registry.hpp"

namespace mase::driver {
namespace {

namespace fs = std::filesystem;

bool is_project(const std::string& folder) { return fs::is_directory(folder + "/software"); }

/// The folder that the last transformation exported, or nothing.
std::optional<std::string> exported_folder(const std::string& project) {
  const std::string path = record_path(project, "transform");
  if (!file_exists(path)) return std::nullopt;
  const Tree record = parse_json(read_file(path), path);
  const Tree* found = &record;
  for (const char* key : {"document", "export", "file"})
    if (found) found = found->is_dict() ? found->find(key) : nullptr;
  if (!found || !found->is_string() || !found->as_string().ends_with('/')) return std::nullopt;
  return found->as_string();
}

[[noreturn]] void no_checkpoint_in(const std::string& project) {
  const auto folder = exported_folder(project);
  file_error(project + ": a project without a checkpoint; " +
             (folder ? "its transformation was exported as the folder " + *folder +
                           ", which takes the place of one. Give that folder"
                     : "mase train and mase transform write one there"));
}

/// The checkpoints that the project has, the newest first.
std::vector<std::string> checkpoints_of(const std::string& project) {
  std::vector<std::pair<fs::file_time_type, std::string>> found;
  for (const std::string_view name :
       {transformed_checkpoint, linked_checkpoint, trained_checkpoint}) {
    const std::string path = (fs::path(project) / name).lexically_normal().string();
    std::error_code missing;
    const bool is_folder = fs::is_directory(path, missing);  // whose config.json is written last
    const auto time = fs::last_write_time(is_folder ? path + "/config.json" : path, missing);
    if (!missing) found.emplace_back(time, path);
  }
  std::ranges::stable_sort(found, std::greater{}, [](const auto& entry) { return entry.first; });
  std::vector<std::string> paths;
  for (auto& [time, path] : found) paths.push_back(std::move(path));
  if (paths.empty()) no_checkpoint_in(project);
  return paths;
}

/// The project whose software folder a checkpoint stands in: its folder and its name.
std::optional<std::pair<std::string, std::string>> project_around(const std::string& checkpoint) {
  if (!file_exists(checkpoint)) return std::nullopt;
  for (fs::path path = checkpoint; path.has_parent_path() && path.has_filename();
       path = path.parent_path()) {
    const fs::path project = path.parent_path();
    if (path.filename() != "software" || !project.has_filename()) continue;
    const std::string folder = project.parent_path().string();
    return std::pair(folder.empty() ? "." : folder, project.filename().string());
  }
  return std::nullopt;
}

}  // namespace

std::string model_file(const std::string& name) {
  const std::string model = local_file(name);
  const bool stands = !models::find_model(model) && is_project(model);
  return stands ? checkpoints_of(model).front() : model;
}

std::string weights_file(const std::string& name) {
  const std::string path = local_file(name);
  if (!is_project(path)) return path;
  const std::vector<std::string> found = checkpoints_of(path);
  const auto trained = std::ranges::find_if(
      found, [](const std::string& name) { return name.ends_with(trained_checkpoint); });
  return trained == found.end() ? found.front() : *trained;
}

void join_project(const SettingSources& sources, Settings& settings) {
  if (sources.give("project") || sources.give("project_dir")) return;
  for (const auto& path : {settings.general.load_name, settings.general.model}) {
    const auto project = path ? project_around(*path) : std::nullopt;
    if (!project) continue;
    settings.general.project_dir = project->first;
    settings.general.project = project->second;
    return;
  }
}

}  // namespace mase::driver
