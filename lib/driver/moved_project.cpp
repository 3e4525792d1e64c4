// SPDX-License-Identifier: Apache-2.0
// Finds the project around a file that was written there, and compares it with what the file says.
#include "driver/moved_project.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string_view>

#include "base/error.hpp"
#include "base/file.hpp"
#include "config/toml.hpp"

namespace mase::driver {
namespace {

namespace fs = std::filesystem;

/// The folders below `software` in which commands write configurations, and the names of these.
constexpr std::array<std::string_view, 3> written_folders{"training_ckpts", "transform", "search"};
constexpr std::array<std::string_view, 2> written_names{"config.toml", "transform.toml"};
/// The settings that may name a file of the project.
constexpr std::array<const char*, 3> file_settings{"model", "load_name", "teacher"};

template <class Names>
bool is_one_of(const Names& names, const fs::path& name) {
  return std::ranges::find(names, name.string()) != names.end();
}

/// The folder of the project in which a configuration was written.
std::optional<fs::path> project_holding(const fs::path& file) {
  if (!is_one_of(written_names, file.filename())) return std::nullopt;
  const fs::path whole = fs::absolute(file).lexically_normal();
  for (fs::path below = whole.parent_path(); below.has_relative_path(); below = below.parent_path())
    if (is_one_of(written_folders, below.filename()) &&
        below.parent_path().filename() == "software")
      return below.parent_path().parent_path();
  return std::nullopt;
}

/// The text of a setting, or nothing if it has no value.
std::optional<std::string> setting_text(const Tree& file, const char* setting) {
  const Tree* found = file.find(setting);
  if (!found || !found->is_string() || *found == Tree("NA") || *found == Tree(""))
    return std::nullopt;
  return found->as_string();
}

/// Gives a setting another value at the same place of the file.
void set_text(Tree& file, const char* setting, const std::string& text) {
  Tree& entry = file[setting];
  Tree value = text;
  value.where = entry.where;
  value.key_where = entry.key_where;
  entry = std::move(value);
}

/// The path of something in the folder `before` as that of the same thing in the folder `now`, if
/// it is there.
std::optional<fs::path> moved_path(const fs::path& path, const fs::path& before,
                                   const fs::path& now) {
  const fs::path inside =
      fs::absolute(path).lexically_normal().lexically_relative(fs::absolute(before));
  if (inside.empty() || *inside.begin() == "..") return std::nullopt;
  const fs::path found = (now / inside).lexically_normal();
  return fs::exists(found) ? std::optional(found) : std::nullopt;
}

}  // namespace

bool follow_project(const std::string& path, Tree& file) {
  const auto now = project_holding(path);
  const auto written_in = setting_text(file, "project_dir");
  if (!now || !written_in) return false;
  const std::string name = now->filename().string();
  const fs::path before =
      (fs::path(*written_in) / setting_text(file, "project").value_or(name)).lexically_normal();
  std::error_code missing;
  if (fs::equivalent(before, *now, missing)) return false;
  set_text(file, "project_dir", now->parent_path().string());
  set_text(file, "project", name);
  for (const char* setting : file_settings)
    if (const auto named = setting_text(file, setting))
      if (const auto found = moved_path(*named, before, *now))
        set_text(file, setting, found->string());
  return true;
}

bool was_written_with(const std::string& path, const std::string& settings) {
  if (read_file(path) == settings) return true;
  try {
    Tree written = config::read_toml(path);
    return follow_project(path, written) && written == config::parse_toml(settings, path);
  } catch (const Error&) {
    return false;  // it is damaged
  }
}

}  // namespace mase::driver
