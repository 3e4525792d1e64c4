// SPDX-License-Identifier: Apache-2.0
// Loads LibTorch's libraries by path; libmase_torch.so then finds them by name.
#include "backend/libtorch.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/error.hpp"
#include "base/text.hpp"

namespace mase::backend {
namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

/// The text between the first two quotes, or the whole line if it has no quotes.
std::string unquoted(const std::string& line) {
  const auto first = line.find('\'');
  if (first == std::string::npos) return std::string(trim(line));
  return line.substr(first + 1, line.find('\'', first + 1) - first - 1);
}

/// The version in a LibTorch's `lib`, as "2.13.0+cpu": from version.py of Python, or build-version.
std::string version_in(const fs::path& lib) {
  std::string line;
  std::ifstream plain(lib.parent_path() / "build-version");
  if (std::getline(plain, line)) return unquoted(line);
  std::ifstream python(lib.parent_path() / "version.py");
  while (std::getline(python, line))
    if (line.starts_with("__version__")) return unquoted(line);
  return "";
}

/// Whether the version fits. The C++ interface changes between releases, so it must be the same.
bool fits(const fs::path& lib) {
  return is_there(lib / "libtorch.so") && version_in(lib).starts_with(libtorch_version());
}

/// Adds the `lib` folders of the torch packages in a Python installation.
void add_packages(const fs::path& prefix, std::vector<fs::path>& found) {
  std::error_code error;
  for (const auto& python : fs::directory_iterator(prefix / "lib", error))
    if (python.path().filename().string().starts_with("python3"))
      for (const char* packages : {"site-packages", "dist-packages"})
        found.push_back(python.path() / packages / "torch" / "lib");
}

/// The folders of Python environments, the active one first.
std::vector<fs::path> prefixes() {
  std::vector<fs::path> found;
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (!variable(name).empty()) found.emplace_back(variable(name));
  for (const std::string& folder : split(variable("PATH"), ':'))
    if (!folder.empty()) found.push_back(fs::path(folder).parent_path());
  if (!variable("HOME").empty()) found.push_back(fs::path(variable("HOME")) / ".local");
  return found;
}

}  // namespace

std::string libtorch_version() { return MASE_TORCH_VERSION; }

void load_chosen_libtorch() {
  const std::string chosen = variable("MASE_LIBTORCH");
  if (chosen.empty()) return;
  for (const fs::path& lib : {fs::path(chosen), fs::path(chosen) / "lib"})
    if (fits(lib)) return load_libtorch(lib.string());
  file_error("MASE_LIBTORCH names '" + chosen + "', but that folder has no LibTorch " +
             libtorch_version());
}

std::vector<std::string> find_libtorch() {
  std::vector<fs::path> places;
  // Torch_DIR is PREFIX/share/cmake/Torch.
  if (const fs::path cmake = variable("Torch_DIR"); !cmake.empty())
    places.push_back((cmake / "../../../lib").lexically_normal());
  for (const fs::path& prefix : prefixes()) add_packages(prefix, places);
  std::vector<std::string> found;
  for (const fs::path& lib : places)
    if (fits(lib) && std::find(found.begin(), found.end(), lib.string()) == found.end())
      found.push_back(lib.string());
  return found;
}

void load_libtorch(const std::string& folder) {
  for (const char* name : {"libc10.so", "libtorch_cpu.so", "libtorch.so"}) {
    const std::string path = (fs::path(folder) / name).string();
    if (!dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL))
      file_error("LibTorch cannot be opened: " + std::string(dlerror()));
  }
}

std::string loaded_libtorch() {
  void* library = dlopen("libtorch_cpu.so", RTLD_NOW | RTLD_NOLOAD);
  char folder[PATH_MAX] = "";
  if (library) dlinfo(library, RTLD_DI_ORIGIN, folder);
  return folder;
}

}  // namespace mase::backend
