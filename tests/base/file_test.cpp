// SPDX-License-Identifier: Apache-2.0
// Reading and atomic writing of files, hashes, shipped files.
#include "base/file.hpp"

#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>

#include "base/error.hpp"
#include "support/temporary_folder.hpp"

using namespace mase;
using mase::test::TemporaryFolder;

namespace {

template <class Action>
std::string file_fault(Action action) {
  try {
    action();
  } catch (const Error& error) {
    REQUIRE(error.fault() == Fault::file);
    return error.what();
  }
  return "";
}

/// While it lives, files of this process cannot grow above `bytes`: a stand-in for a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &now);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

}  // namespace

TEST_CASE("a file is written with its folders and read back byte for byte") {
  const TemporaryFolder folder;
  const std::string path = folder.file("a/b/c.bin");
  const std::string bytes("\0\xFF\r\n", 4);
  write_file(path, bytes);
  REQUIRE(read_file(path) == bytes);
  write_file(path, "");
  REQUIRE(read_file(path).empty());
  REQUIRE(file_exists(path));
  REQUIRE_FALSE(file_exists(folder.file("none")));
}

TEST_CASE("reading failures name the file and the reason") {
  const TemporaryFolder folder;
  REQUIRE_THAT(file_fault([&] { read_file(folder.file("none")); }),
               Catch::Contains("none': No such file or directory"));
  REQUIRE_THAT(file_fault([&] { read_file(folder.file("")); }), Catch::Contains("Is a directory"));
  write_file(folder.file("big"), std::string(100, 'x'));
  REQUIRE_THAT(file_fault([&] { read_file(folder.file("big"), 99); }),
               Catch::Contains("limit of 99"));
  REQUIRE(read_file(folder.file("big"), 100).size() == 100);
  REQUIRE_THAT(file_fault([&] { read_file("/dev/zero", 1000); }), Catch::Contains("limit of 1000"));
}

TEST_CASE("a failed write leaves the old file and nothing else") {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.txt");
  write_file(path, "old");
  {
    const FileSizeLimit limit(1000);
    REQUIRE_THAT(file_fault([&] { write_file(path, std::string(5000, 'x')); }),
                 Catch::Contains("cannot write") && Catch::Contains("x.txt"));
  }
  REQUIRE_THROWS_AS(write_file_with(path,
                                    [](const std::string& name) {
                                      write_file(name, "half");
                                      throw std::runtime_error("interrupted");
                                    }),
                    std::runtime_error);
  REQUIRE(read_file(path) == "old");
  REQUIRE(folder.entries() == 1);
}

TEST_CASE("a path through a file or onto a folder is refused") {
  const TemporaryFolder folder;
  write_file(folder.file("plain"), "x");
  REQUIRE_THAT(file_fault([&] { write_file(folder.file("plain/y"), "z"); }),
               Catch::Contains("Not a directory"));
  make_folder(folder.file("sub"));
  REQUIRE_THAT(file_fault([&] { write_file(folder.file("sub"), "z"); }), Catch::Contains("sub'"));
  REQUIRE_THAT(file_fault([&] { write_file(folder.file("sub/"), "z"); }), Catch::Contains("sub/'"));
  REQUIRE(folder.entries() == 2);
}

TEST_CASE("a device is written to, never replaced, and a full one is an error") {
  REQUIRE_NOTHROW(write_file("/dev/null", "gone"));
  REQUIRE(std::filesystem::is_character_file("/dev/null"));
  REQUIRE_THAT(file_fault([] { write_file("/dev/full", "x"); }),
               Catch::Contains("No space left on device"));
}

TEST_CASE("writing through a symbolic link keeps the link") {
  const TemporaryFolder folder;
  write_file(folder.file("target"), "old");
  std::filesystem::create_symlink("target", folder.file("link"));
  write_file(folder.file("link"), "new");
  REQUIRE(std::filesystem::is_symlink(folder.file("link")));
  REQUIRE(read_file(folder.file("target")) == "new");
}

TEST_CASE("SHA-256 gives the digests of FIPS 180-2") {
  REQUIRE(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  REQUIRE(sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  REQUIRE(sha256(std::string(1000000, 'a')) ==
          "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  Sha256 pieces;
  for (const char* piece : {"a", "", "bc"}) pieces.add(piece);
  REQUIRE(pieces.finish() == sha256("abc"));
}

TEST_CASE("the shipped files are found, and MASE_SHARE overrides their place") {
  REQUIRE(std::filesystem::is_directory(share_folder() + "/configs"));
  const TemporaryFolder folder;
  ::setenv("MASE_SHARE", folder.file("").c_str(), 1);
  REQUIRE(share_folder() == folder.file(""));
  ::setenv("MASE_SHARE", folder.file("none").c_str(), 1);
  REQUIRE_THAT(file_fault([] { share_folder(); }), Catch::Contains("MASE_SHARE"));
  ::unsetenv("MASE_SHARE");
}
