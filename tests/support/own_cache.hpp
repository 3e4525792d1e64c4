// SPDX-License-Identifier: Apache-2.0
// An empty cache of the user for one test case.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "support/temporary_folder.hpp"

namespace mase::test {

/// Stands in XDG_CACHE_HOME while it lives.
class OwnCache {
 public:
  explicit OwnCache(const std::string& name = "cache") : home_(folder_.file(name)) {
    if (const char* before = std::getenv("XDG_CACHE_HOME")) before_ = before;
    std::filesystem::permissions(folder_.path(), std::filesystem::perms::owner_all);
    ::setenv("XDG_CACHE_HOME", home_.c_str(), 1);
  }
  OwnCache(const OwnCache&) = delete;
  OwnCache& operator=(const OwnCache&) = delete;
  ~OwnCache() {
    if (before_.empty())
      ::unsetenv("XDG_CACHE_HOME");
    else
      ::setenv("XDG_CACHE_HOME", before_.c_str(), 1);
  }
  std::string home() const { return home_; }
  std::string builds() const { return home_ + "/mase/builds"; }

 private:
  TemporaryFolder folder_;
  std::string home_, before_;
};

}  // namespace mase::test
