// SPDX-License-Identifier: Apache-2.0
// The places of the program and of the files shipped with it.
#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/error.hpp"
#include "base/file.hpp"

namespace mase {
namespace fs = std::filesystem;
namespace {

bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

bool is_source_tree(const fs::path& path) {
  std::error_code error;
  return is_folder(path / "configs") && fs::exists(path / "CMakeLists.txt", error);
}

}  // namespace

std::string program_folder() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) file_error("cannot read '/proc/self/exe': " + error.message());
  return program.parent_path().string();
}

/// Tries in this order: $MASE_SHARE, the install tree, a source tree around the program, the source
/// tree that it was built from.
std::string share_folder() {
  if (const char* chosen = std::getenv("MASE_SHARE"); chosen && *chosen) {
    if (!is_folder(chosen))
      file_error("MASE_SHARE names '" + std::string(chosen) + "', which is not a folder");
    return chosen;
  }
  const fs::path program = program_folder();
  const fs::path installed = program.parent_path() / "share" / "mase";
  if (is_folder(installed)) return installed.string();
  for (fs::path at = program; at.has_relative_path(); at = at.parent_path())
    if (is_source_tree(at)) return at.string();
  if (is_source_tree(MASE_SOURCE_DIR)) return MASE_SOURCE_DIR;
  file_error("the shipped files (configs, data, hw_templates) were not found next to '" +
             program.string() + "'; set MASE_SHARE to the folder that holds them");
}

}  // namespace mase
