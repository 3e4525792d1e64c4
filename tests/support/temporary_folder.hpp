// SPDX-License-Identifier: Apache-2.0
// A folder for one test case, removed at its end.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

namespace mase::test {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    static int count = 0;
    const std::string name =
        "mase-test-" + std::to_string(::getpid()) + "-" + std::to_string(count++);
    path_ = std::filesystem::temp_directory_path() / name;
    std::filesystem::create_directories(path_);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }

  std::string path() const { return path_.string(); }
  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_),
                                                  std::filesystem::directory_iterator()));
  }

 private:
  std::filesystem::path path_;
};

}  // namespace mase::test
