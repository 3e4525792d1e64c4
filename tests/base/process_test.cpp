// SPDX-License-Identifier: Apache-2.0
// Running of programs: what they print, how they end, and when they are stopped.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/process.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

using namespace mase;

namespace {

/// Whether there is a process with this word among its arguments.
bool runs(const std::string& word) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "cmdline");
    const std::string arguments(std::istreambuf_iterator<char>(file), {});
    if (arguments.find(word) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("both outputs, the status, the folder and the environment are those of the program") {
  const ProcessResult result = run_process({"sh", "-c", "pwd; echo $MASE_TEST_WORD >&2; exit 7"},
                                           {"/", 3600, {{"MASE_TEST_WORD", "told"}}});
  CHECK(result.status == 7);
  CHECK(result.out == "/\n");
  CHECK(result.err == "told\n");
  CHECK_FALSE(result.timed_out);
}

TEST_CASE("arguments reach the program untouched by any shell") {
  CHECK(run_process({"printf", "%s|", "a b", "$HOME", "*"}).out == "a b|$HOME|*|");
}

TEST_CASE("long outputs on both pipes do not block") {
  const ProcessResult result = run_process(
      {"sh", "-c", "head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2"}, {"", 3600, {}});
  CHECK(result.out.size() == 300000);
  CHECK(result.err.size() == 300000);
}

TEST_CASE("a program that runs too long is stopped with its children") {
  const std::string mark = "600." + std::to_string(::getpid());
  const ProcessResult result =
      run_process({"sh", "-c", "sleep " + mark + " & sleep " + mark}, {"", 0.2, {}});
  CHECK(result.timed_out);
  // What was killed may still be listed; what was not ends by itself in ten minutes only.
  int looks = 0;
  while (runs(mark) && ++looks < 3000) ::usleep(20000);
  CHECK(looks < 3000);
  CHECK(test::message_of(mase::Fault::file, [] {
          run_checked({"sleep", "30"}, {"", 0.1, {}}, "waiting");
        }).starts_with("waiting did not end within"));
}

TEST_CASE("a program and its children end with this process, also when it is killed") {
  const test::TemporaryFolder folder;
  // Both hold `alive` open for writing: its other end is at its end when both have ended.
  REQUIRE(::mkfifo(folder.file("alive").c_str(), 0600) == 0);
  const std::string script = "exec 3>" + folder.file("alive") + "; sleep 600 & sleep 600";
  const pid_t child = ::fork();
  if (child == 0) {
    run_process({"sh", "-c", script});
    ::_exit(0);
  }
  std::ifstream alive(folder.file("alive"));  // waits until it is open for writing
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  CHECK(alive.get() == std::ifstream::traits_type::eof());
}

TEST_CASE("a signal counts as a status above 128") {
  CHECK(run_process({"sh", "-c", "kill -9 $$"}).status == 128 + 9);
}

TEST_CASE("missing programs and folders are named, known tools with the way to get them") {
  CHECK(test::message_of(mase::Fault::file, [] { run_process({"mase-has-no-such-tool"}); }) ==
        "cannot start mase-has-no-such-tool: No such file or directory");
  CHECK(test::message_of(mase::Fault::file, [] {
          run_process({"true"}, {"/no/such/folder", 3600, {}});
        }) == "cannot work in '/no/such/folder': No such file or directory");
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", "/no/such/folder", 1);
  const std::string message =
      test::message_of(mase::Fault::file, [] { run_process({"verilator"}); });
  CHECK_FALSE(program_exists("verilator"));
  ::setenv("PATH", path.c_str(), 1);
  CHECK(message ==
        "cannot start verilator: No such file or directory; install it, for example with "
        "`apt-get install verilator`, or put it in PATH");
}

TEST_CASE("a failing program gives its own last lines") {
  const std::string message = test::message_of(mase::Fault::file, [] {
    run_checked({"sh", "-c", "echo first; echo 'the reason' >&2; exit 3"}, {}, "trying");
  });
  CHECK(message == "trying failed (sh ended with status 3):\nthe reason");
}
