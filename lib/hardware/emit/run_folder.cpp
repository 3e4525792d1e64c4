// SPDX-License-Identifier: Apache-2.0
// Temporary folders with names of their own.
#include "hardware/emit/run_folder.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/error.hpp"
#include "base/file.hpp"

namespace mase::emit {

namespace fs = std::filesystem;

RunFolder::RunFolder() {
  const std::string parent = fs::temp_directory_path().string();
  std::string name = parent + "/mase-run-XXXXXX";
  if (!::mkdtemp(name.data()))
    file_error("cannot make a temporary folder in '" + parent + "': " + std::strerror(errno));
  path_ = name;
}

RunFolder::~RunFolder() {
  std::error_code error;
  fs::remove_all(path_, error);
}

std::string RunFolder::make(const std::string& name) const {
  make_folder(file(name));
  return file(name);
}

}  // namespace mase::emit
