// SPDX-License-Identifier: Apache-2.0
// One writer of a folder at a time, also where the system's locks are not shared.
#include "base/folder_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <ctime>
#include <filesystem>
#include <thread>

#include "base/error.hpp"
#include "base/file.hpp"
#include "support/temporary_folder.hpp"

using namespace mase;
using mase::test::TemporaryFolder;
namespace fs = std::filesystem;

namespace {

constexpr const char* elsewhere =
    R"({"command": "mase train", "pid": 12, "host": "far\u001b[2J", "space": "another 1", "started": "5"})";

/// Leaves a lock file that was touched so many seconds ago.
std::string leave_lock(const TemporaryFolder& folder, const std::string& text, std::time_t ago) {
  const std::string path = folder.file(".mase.lock");
  write_file(path, text);
  const timespec times[2] = {{std::time(nullptr) - ago, 0}, {std::time(nullptr) - ago, 0}};
  REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
  return path;
}

}  // namespace

TEST_CASE("a second writer is refused with the first one's process, host and command") {
  const TemporaryFolder folder;
  {
    const FolderLock first(folder.path(), "mase train");
    REQUIRE_THROWS_WITH(FolderLock(folder.path(), "mase emit"),
                        Catch::Contains(folder.path()) && Catch::Contains("mase train") &&
                            Catch::Contains("process " + std::to_string(::getpid()) + " on host "));
  }
  REQUIRE(fs::is_empty(folder.path()));
  const FolderLock second(folder.path(), "mase emit");
}

TEST_CASE("a folder that a lock has made goes with it while it is empty") {
  const TemporaryFolder folder;
  { const FolderLock lock(folder.file("a/b"), "test"); }
  REQUIRE(fs::is_empty(folder.path()));
  {
    const FolderLock lock(folder.file("a/b"), "test");
    write_file(folder.file("a/b/result"), "x");
  }
  REQUIRE(file_exists(folder.file("a/b/result")));
  REQUIRE_FALSE(file_exists(folder.file("a/b/.mase.lock")));
}

TEST_CASE("the lock of a process that was killed is taken over") {
  const TemporaryFolder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    const FolderLock lock(folder.path(), "mase train");
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  REQUIRE(WIFSIGNALED(status));
  REQUIRE(file_exists(folder.file(".mase.lock")));
  { const FolderLock lock(folder.path(), "mase emit"); }
  REQUIRE(fs::is_empty(folder.path()));
}

TEST_CASE("a child of a killed holder that ends later is waited for") {
  const TemporaryFolder folder;
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const FolderLock lock(folder.path(), "mase train");
    if (::fork() == 0) {  // has the lock's file open, too
      char end = 0;
      ::close(ends[1]);
      ::_exit(static_cast<int>(::read(ends[0], &end, 1)));
    }
    ::kill(::getpid(), SIGKILL);
  }
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    ::close(ends[1]);
  });
  { const FolderLock lock(folder.path(), "mase emit"); }
  later.join();
  REQUIRE(fs::is_empty(folder.path()));
}

TEST_CASE("a lock that another host has just touched is held, an old one is not") {
  const TemporaryFolder folder;
  const std::string path = leave_lock(folder, elsewhere, 30);
  for (int time = 0; time < 2; ++time)  // asking makes it no fresher
    REQUIRE_THROWS_WITH(FolderLock(folder.path(), "mase emit"),
                        Catch::Contains("process 12 on host far\\u001b[2J (mase train)"));
  struct stat info {};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  REQUIRE(info.st_mtime < std::time(nullptr) - 20);
  leave_lock(folder, elsewhere, 120);
  { const FolderLock lock(folder.path(), "mase emit"); }
  leave_lock(folder, elsewhere, -1000000);  // a clock gone wrong
  { const FolderLock lock(folder.path(), "mase emit"); }
  leave_lock(folder, "[1, 2", 0);
  const FolderLock lock(folder.path(), "mase emit");
}

TEST_CASE("a lock file that is a link or no file is an error") {
  const TemporaryFolder folder, other;
  write_file(other.file("kept"), "mine");
  fs::create_symlink(other.file("kept"), folder.file(".mase.lock"));
  REQUIRE_THROWS_WITH(FolderLock(folder.path(), "test"), Catch::Contains(".mase.lock'"));
  REQUIRE(read_file(other.file("kept")) == "mine");
  fs::remove(folder.file(".mase.lock"));
  fs::create_directory(folder.file(".mase.lock"));
  REQUIRE_THROWS_WITH(FolderLock(folder.path(), "test"), Catch::Contains(".mase.lock'"));
}
