// SPDX-License-Identifier: Apache-2.0
// Temporary folders with names of their own.
#include "base/run_folder.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/leftovers.hpp"

namespace mase {

namespace fs = std::filesystem;

RunFolder::RunFolder() {
  const std::string parent = temporary_folder();
  sweep_leftovers(parent);
  path_ = parent + "/mase-run" + temporary_suffix();
  if (::mkdir(path_.c_str(), S_IRWXU) != 0)
    file_error("cannot make a temporary folder in '" + parent + "': " + std::strerror(errno));
}

RunFolder::~RunFolder() {
  std::error_code error;
  fs::remove_all(path_, error);
}

std::string RunFolder::make(const std::string& name) const {
  make_folder(file(name));
  return file(name);
}

}  // namespace mase
