// SPDX-License-Identifier: Apache-2.0
// Temporary names and what is swept of them.
#include "base/leftovers.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/process_identity.hpp"
#include "base/text.hpp"
#include "support/temporary_folder.hpp"

using namespace mase;
using mase::test::TemporaryFolder;
namespace fs = std::filesystem;

namespace {

/// A suffix as a process gave it that has ended since.
std::string suffix_of_the_dead() {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string suffix = temporary_suffix();
    [[maybe_unused]] const auto count = ::write(ends[1], suffix.data(), suffix.size());
    ::_exit(0);
  }
  std::string suffix(256, '\0');
  ::close(ends[1]);
  suffix.resize(static_cast<std::size_t>(::read(ends[0], suffix.data(), suffix.size())));
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return suffix;
}

/// The suffix with one of its parts (leftovers.cpp) replaced.
std::string with_part(const std::string& suffix, std::size_t part, const std::string& text) {
  std::vector<std::string> parts = split(suffix.substr(5), '-');
  parts.at(part) = text;
  return ".tmp-" + join(parts, "-");
}

void make_old(const std::string& path) {
  const std::time_t then = std::time(nullptr) - 25 * 60 * 60;
  const timespec times[2] = {{then, 0}, {then, 0}};
  REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
}

}  // namespace

TEST_CASE("temporary names differ, and fit where the whole name would") {
  std::set<std::string> names;
  for (int i = 0; i < 100; ++i) names.insert(temporary_name("a/b"));
  REQUIRE(names.size() == 100);
  REQUIRE(fs::path(*names.begin()).parent_path() == "a");
  const TemporaryFolder folder;
  const std::string longest(255, 'n');  // NAME_MAX
  write_file(folder.file(longest), "x");
  REQUIRE(read_file(folder.file(longest)) == "x");
}

TEST_CASE("only what dead processes have left is swept, files and folders") {
  const TemporaryFolder folder;
  const std::string dead = suffix_of_the_dead();
  const std::set<std::string> staying = {"result.pt",
                                         ".best.pt.tmp-1",
                                         ".x.tmp-1-2-3-4-5-6-7",
                                         "x" + temporary_suffix(),
                                         dead + ".txt",
                                         "y" + with_part(dead, 0, "0"),
                                         "z" + with_part(dead, 4, "00000000")};
  for (const std::string& name : staying) write_file(folder.file(name), "x");
  write_file(folder.file(".best.pt" + dead), "half");
  write_file(folder.file("run" + dead + "/inner"), "half");
  write_file(folder.file("below/x" + dead), "half");
  // The process lives, but is another one than had this number.
  write_file(folder.file("again" + with_part(temporary_suffix(), 1, "1")), "half");
  sweep_leftovers(folder.path());
  std::set<std::string> left;
  for (const auto& entry : fs::directory_iterator(folder.path()))
    left.insert(entry.path().filename().string());
  std::set<std::string> wanted = staying;
  wanted.insert("below");
  REQUIRE(left == wanted);
  sweep_leftovers_below(folder.path());
  REQUIRE(fs::is_empty(folder.file("below")));
}

TEST_CASE("leftovers from before this host's boot go after a day, those of other hosts never") {
  const TemporaryFolder folder;
  const std::string before =
      with_part(with_part(suffix_of_the_dead(), 3, "0000aaaa"), 4, "0000aaaa");
  const std::string elsewhere = with_part(before, 2, "0000aaaa");
  for (const std::string& name : {"new" + before, "old" + before, "old" + elsewhere})
    write_file(folder.file(name), "x");
  make_old(folder.file("old" + before));
  make_old(folder.file("old" + elsewhere));
  sweep_leftovers(folder.path());
  REQUIRE(file_exists(folder.file("new" + before)));
  REQUIRE_FALSE(file_exists(folder.file("old" + before)));
  REQUIRE(file_exists(folder.file("old" + elsewhere)));
}

TEST_CASE("sweeping a link removes the link, not what it names") {
  const TemporaryFolder folder, other;
  write_file(other.file("kept"), "x");
  fs::create_symlink(other.path(), folder.file("x" + suffix_of_the_dead()));
  sweep_leftovers(folder.path());
  REQUIRE(fs::is_empty(folder.path()));
  REQUIRE(file_exists(other.file("kept")));
  REQUIRE_NOTHROW(sweep_leftovers(folder.file("none")));
}

TEST_CASE("a folder for temporary files that is not a folder is named") {
  const TemporaryFolder folder;
  const char* before = std::getenv("TMPDIR");
  const std::string kept = before ? before : "";
  ::setenv("TMPDIR", folder.file("none").c_str(), 1);
  REQUIRE_THROWS_WITH(temporary_folder(), Catch::Contains("none'") && Catch::Contains("TMPDIR"));
  ::setenv("TMPDIR", folder.path().c_str(), 1);
  REQUIRE(temporary_folder() == folder.path());
  if (before)
    ::setenv("TMPDIR", kept.c_str(), 1);
  else
    ::unsetenv("TMPDIR");
}
