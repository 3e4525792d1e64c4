// SPDX-License-Identifier: Apache-2.0
// What a command can reach after it entered the sandbox: each case in a forked process, since there
// is no way back.
#include "sandbox/policy.hpp"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <functional>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/folder_lock.hpp"
#include "support/temporary_folder.hpp"

using namespace mase;
namespace fs = std::filesystem;

namespace {

/// Whether `work` is true in a process that enters the sandbox after it said what it needs.
bool inside(const std::function<void()>& say, const std::function<bool()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    bool good = false;
    try {
      sandbox::choose(sandbox::Mode::automatic);
      say();
      sandbox::enter();
      good = work();
    } catch (const std::exception&) {
    }
    ::_exit(good ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool can_read(const std::string& path) { return std::ifstream(path).get() != EOF; }

bool can_write(const std::string& path) {
  try {
    write_file(path, "text");
  } catch (const Error&) {
    return false;
  }
  return true;
}

void make_file(const std::string& path) { std::ofstream(path) << "content"; }

/// This kernel has no sandbox.
bool is_missing() { return !sandbox::support().full(); }

}  // namespace

TEST_CASE("words of the command line name what is read", "[sandbox]") {
  if (is_missing()) return;
  const test::TemporaryFolder folder;
  const std::string named = folder.file("x.npy"), other = folder.file("other");
  make_file(named);
  make_file(other);
  for (const std::string word : {named, "input=" + named})
    CHECK(inside([&] { sandbox::may_read_argument(word); },
                 [&] { return can_read(named) && !can_read(other) && !can_write(named); }));
}

TEST_CASE("texts of a configuration name what is read, at any depth", "[sandbox]") {
  if (is_missing()) return;
  const test::TemporaryFolder folder;
  const std::string named = folder.file("calibration.npy"), other = folder.file("other");
  make_file(named);
  make_file(other);
  Tree settings = Tree::dict();
  settings["passes"]["calibrate"]["inputs"] =
      Tree::list_of(std::vector<std::string>{named, "no file"});
  CHECK(inside([&] { sandbox::may_read_named(settings); },
               [&] { return can_read(named) && !can_read(other); }));
}

TEST_CASE("a project is written, what lies beside it is not", "[sandbox]") {
  if (is_missing()) return;
  const test::TemporaryFolder folder;
  const std::string project = folder.file("project"), beside = folder.file("beside");
  CHECK(inside([&] { sandbox::may_write(project); },
               [&] {
                 return can_write(project + "/deep/inside") && !can_write(beside) &&
                        !can_write(project + "/../beside");
               }));
  CHECK(read_file(project + "/deep/inside") == "text");
  CHECK_FALSE(file_exists(beside));
}

TEST_CASE("a lock that another host has left is taken over inside", "[sandbox]") {
  if (is_missing()) return;
  const test::TemporaryFolder folder;
  const std::string project = folder.file("project"), lock = project + "/.mase.lock";
  write_file(lock, R"({"command": "mase train", "pid": 12, "host": "far", "space": "another 1", )"
                   R"("started": "5"})");
  const auto long_ago = fs::file_time_type::clock::now() - std::chrono::minutes(2);
  fs::last_write_time(lock, long_ago);
  CHECK(inside([&] { sandbox::may_write(project); },
               [&] {
                 const FolderLock taken(project, "mase train");
                 return fs::last_write_time(lock) > long_ago;
               }));
}

TEST_CASE("secrets of the user and the system are out of reach", "[sandbox]") {
  if (is_missing()) return;
  CHECK(inside([] {},
               [] {
                 return !can_read("/etc/passwd") && !can_read("/etc/shadow") &&
                        !can_read("/proc/1/environ") && can_read("/proc/cpuinfo") &&
                        can_read("/proc/self/stat");
               }));
}

TEST_CASE("programs and sockets are for those that said so", "[sandbox]") {
  if (is_missing()) return;
  const auto starts = [] {
    const pid_t child = ::fork();
    if (child == 0) {
      ::execl("/bin/true", "true", nullptr);
      ::_exit(1);
    }
    int status = 0;
    return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  };
  const auto connects = [] { return ::socket(AF_INET, SOCK_STREAM, 0) >= 0; };
  CHECK(inside([] {}, [&] { return !starts() && !connects(); }));
  CHECK(inside([] { sandbox::may_run_programs(); }, [&] { return starts() && !connects(); }));
  CHECK(inside([] { sandbox::may_connect(); }, [&] { return !starts() && connects(); }));
  CHECK(inside([] { sandbox::may_run_program("true"); }, starts));
}

TEST_CASE("a process that only reads has nothing of what its parent may", "[sandbox]") {
  if (is_missing()) return;
  const test::TemporaryFolder folder;
  const std::string project = folder.file("project");
  CHECK(inside(
      [&] {
        sandbox::may_write(project);
        sandbox::may_run_programs();
        sandbox::may_connect();
      },
      [&] {
        const bool before = can_write(project + "/a");
        sandbox::keep_reading_only();
        return before && can_read(project + "/a") && !can_write(project + "/b") &&
               ::socket(AF_INET, SOCK_STREAM, 0) < 0 && ::execl("/bin/true", "true", nullptr) < 0;
      }));
}

TEST_CASE("without a sandbox nothing is taken away", "[sandbox]") {
  CHECK(
      inside([] { sandbox::choose(sandbox::Mode::off); }, [] { return can_read("/etc/passwd"); }));
}
