// SPDX-License-Identifier: Apache-2.0
// Where the cache is, and when it is not used.
#include "base/cache_folder.hpp"

#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "support/own_cache.hpp"

using namespace mase;
namespace fs = std::filesystem;

TEST_CASE("the cache is made for the user alone") {
  const test::OwnCache cache;
  const CacheFolder folder = cache_folder();
  CHECK(folder.problem.empty());
  CHECK(folder.path == fs::canonical(cache.home()).string() + "/mase");
  CHECK(fs::status(folder.path).permissions() == fs::perms::owner_all);
}

TEST_CASE("a cache into which others could put files is not used") {
  const test::OwnCache cache;
  const std::string path = cache_folder().path;
  const auto refused = [&](const fs::path& folder, mode_t mode) {
    const mode_t before = static_cast<mode_t>(fs::status(folder).permissions());
    ::chmod(folder.c_str(), mode);
    const CacheFolder found = cache_folder();
    ::chmod(folder.c_str(), before);
    return found.path.empty() ? found.problem : "used";
  };
  const std::string others = " can be written by others (chmod go-w)";
  CHECK(refused(path, 0777) == path + others);
  CHECK(refused(path, 01777) == path + others);  // what they add there would be run
  CHECK(refused(path, 0755) == "used");
  const fs::path parent = fs::path(path).parent_path();
  CHECK(refused(parent, 0777) == parent.string() + others);  // they could put another in its place
  CHECK(refused(parent, 01777) == "used");
  CHECK(refused(parent, 0755) == "used");
}

TEST_CASE("a link is followed before its owner is checked, and a file is not a cache") {
  const test::OwnCache cache;
  const test::TemporaryFolder elsewhere;
  ::chmod(elsewhere.path().c_str(), 0777);
  fs::create_directories(cache.home());
  fs::create_directory_symlink(elsewhere.path(), cache.home() + "/mase");
  CHECK(cache_folder().path.empty());
  ::chmod(elsewhere.path().c_str(), 0700);
  CHECK(cache_folder().path == fs::canonical(elsewhere.path()).string());
  fs::remove(cache.home() + "/mase");
  fs::copy_file("/proc/self/comm", cache.home() + "/mase");
  CHECK(cache_folder().path.empty());
  CHECK(cache_folder().problem.find("is not a folder") != std::string::npos);
}

TEST_CASE("without a home there is no cache, and relative paths do not count") {
  const test::OwnCache cache;
  const std::string home = std::getenv("HOME") ? std::getenv("HOME") : "";
  ::setenv("XDG_CACHE_HOME", "relative", 1);
  ::setenv("HOME", "also/relative", 1);
  CHECK(cache_folder().path.empty());
  CHECK(cache_folder().problem.empty());
  ::setenv("HOME", cache.home().c_str(), 1);
  fs::create_directories(cache.home());
  CHECK(cache_folder().path == fs::canonical(cache.home()).string() + "/.cache/mase");
  ::setenv("HOME", home.c_str(), 1);
}
