// SPDX-License-Identifier: Apache-2.0
// The cache of builds: what stays, what goes, and two at once.
#include "hardware/emit/tools/build_cache.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <ctime>
#include <filesystem>
#include <set>
#include <stdexcept>

#include "base/file.hpp"
#include "support/own_cache.hpp"

using namespace mase;
using namespace mase::emit;
namespace fs = std::filesystem;

namespace {

const auto kNothing = [](const std::string&) { FAIL("it is there already"); };

/// An entry of a thousand bytes.
KeptBuild thousand(const BuildCache& cache, const std::string& name) {
  return cache.get(name, [](const std::string& folder) {
    write_file(folder + "/bytes", std::string(1000, 'x'));
  });
}

void make_older(const std::string& folder, std::time_t seconds) {
  const timespec time{std::time(nullptr) - seconds, 0};
  const timespec times[] = {time, time};
  ::utimensat(AT_FDCWD, (folder + "/lock").c_str(), times, 0);
}

std::set<std::string> names_in(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    names.insert(entry.path().filename().string());
  return names;
}

}  // namespace

TEST_CASE("an entry is built once") {
  const test::TemporaryFolder folder;
  const BuildCache cache(folder.path());
  const KeptBuild first = thousand(cache, "one");
  CHECK(first.built);
  CHECK(first.folder == folder.file("one"));
  CHECK(fs::status(first.folder).permissions() == fs::perms::owner_all);
  CHECK_FALSE(cache.get("one", kNothing).built);
  CHECK(read_file(folder.file("one/bytes")).size() == 1000);
}

TEST_CASE("a build that fails leaves nothing") {
  const test::TemporaryFolder folder;
  const BuildCache cache(folder.path());
  CHECK_THROWS_AS(cache.get("one",
                            [](const std::string& part) {
                              write_file(part + "/half", "x");
                              throw std::runtime_error("no");
                            }),
                  std::runtime_error);
  CHECK(fs::is_empty(folder.path()));
  CHECK(thousand(cache, "one").built);
}

TEST_CASE("what was not used for longest goes when there is too much") {
  const test::TemporaryFolder folder;
  const BuildCache cache(folder.path(), 3500);
  for (const char* name : {"first", "second", "third"}) thousand(cache, name);
  make_older(folder.file("first"), 300);
  make_older(folder.file("second"), 200);
  make_older(folder.file("third"), 100);
  cache.get("first", kNothing);  // used again
  thousand(cache, "fourth");
  CHECK(names_in(folder.path()) == std::set<std::string>{"first", "third", "fourth"});
}

TEST_CASE("what is used stays, also when there is too much") {
  const test::TemporaryFolder folder;
  const BuildCache cache(folder.path(), 1500);
  {
    const KeptBuild used = thousand(cache, "used");
    make_older(used.folder, 300);
    thousand(cache, "next");
    CHECK(fs::exists(used.folder + "/bytes"));
  }
  thousand(cache, "last");
  CHECK(names_in(folder.path()) == std::set<std::string>{"last"});
}

TEST_CASE("what a dead process left goes, and what one is filling stays") {
  const test::TemporaryFolder folder;
  const BuildCache cache(folder.path());
  write_file(folder.file(".part-dead/lock"), "");
  write_file(folder.file(".part-dead/work/bytes"), "x");
  write_file(folder.file(".part-young/lock"), "");
  make_older(folder.file(".part-dead"), 3600);
  cache.get("outer", [&](const std::string& part) {
    make_older(part, 3600);
    thousand(cache, "inner");
    CHECK(fs::exists(part));
  });
  CHECK(names_in(folder.path()) == std::set<std::string>{".part-young", "inner", "outer"});
}

TEST_CASE("where another process was first, its entry is taken") {
  const test::TemporaryFolder folder;
  const BuildCache cache(folder.path());
  const KeptBuild kept = cache.get("one", [&](const std::string& part) {
    thousand(cache, "one");
    write_file(part + "/bytes", "mine");
  });
  CHECK_FALSE(kept.built);
  CHECK(read_file(kept.folder + "/bytes").size() == 1000);
  CHECK(names_in(folder.path()) == std::set<std::string>{"one"});
}

TEST_CASE("a folder that is no entry gives way") {
  const test::TemporaryFolder folder;
  write_file(folder.file("one/bench"), "somebody else's");
  const KeptBuild kept = thousand(BuildCache(folder.path()), "one");
  CHECK(kept.built);
  CHECK(names_in(kept.folder) == std::set<std::string>{"bytes", "lock"});
}

TEST_CASE("processes that build, use and remove the same entries at once all find them whole") {
  const test::TemporaryFolder folder;
  std::vector<pid_t> children;
  for (int child = 0; child < 4; ++child) {
    children.push_back(::fork());
    if (children.back() != 0) continue;
    // Room for two of four: every turn some go.
    const BuildCache cache(folder.path(), 2500);
    bool whole = true;
    for (int turn = 0; turn < 50; ++turn) {
      const KeptBuild kept = thousand(cache, std::to_string((turn + child) % 4));
      whole = whole && read_file(kept.folder + "/bytes").size() == 1000;
    }
    ::_exit(whole ? 0 : 1);
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(status == 0);
  }
}

TEST_CASE("without a cache of the user's builds last as long as the process") {
  const test::OwnCache cache;
  const std::string home = std::getenv("HOME") ? std::getenv("HOME") : "";
  ::unsetenv("XDG_CACHE_HOME");
  ::unsetenv("HOME");
  const KeptBuild kept = thousand(BuildCache::of_user(), "one");
  CHECK(kept.built);
  CHECK_FALSE(BuildCache::of_user().get("one", kNothing).built);
  CHECK((fs::status(fs::path(kept.folder).parent_path().parent_path()).permissions() &
         fs::perms(077)) == fs::perms::none);
  ::setenv("HOME", home.c_str(), 1);
}
