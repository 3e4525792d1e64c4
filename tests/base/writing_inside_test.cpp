// SPDX-License-Identifier: Apache-2.0
// Writing below a folder that a stranger has filled with links.
#include "base/writing_inside.hpp"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "base/error.hpp"
#include "base/file.hpp"
#include "support/temporary_folder.hpp"

using namespace mase;
using mase::test::TemporaryFolder;
namespace fs = std::filesystem;

namespace {

/// A project, and beside it what a link of it must not reach.
struct Neighbours {
  TemporaryFolder folder;
  std::string project = folder.file("project"), secret = folder.file("outside/secret");

  Neighbours() {
    write_file(secret, "mine");
    fs::create_directories(project + "/software");
    keep_writes_inside(project);
  }
  std::string in(const std::string& name) const { return project + "/" + name; }
  void link(const std::string& target, const std::string& name) const {
    fs::create_symlink(target, in(name));
  }
  void check_refused(const std::string& name) const {
    INFO(name);
    REQUIRE_THROWS_WITH(write_file(in(name), "theirs"),
                        Catch::Contains(name) && Catch::Contains("leads out of"));
    REQUIRE(read_file(secret) == "mine");
    REQUIRE(folder.entries() == 2);  // nothing new beside project and outside
    REQUIRE(fs::exists(folder.file("outside/new")) == false);
  }
};

}  // namespace

TEST_CASE("a file or folder that is a link out of the project is refused") {
  const Neighbours n;
  n.link(n.secret, "file");
  n.link("../outside/secret", "relative");
  n.link("../outside", "folder");
  n.link(fs::path(n.secret).parent_path(), "software/deep");
  n.link("file", "chain");
  n.link("folder/../project/software/../../outside", "winding");
  n.link("/", "root");
  n.link("../project-2", "similar");  // begins as the project's own name
  for (const char* name : {"file", "relative", "folder/new", "folder/a/b", "software/deep/secret",
                           "chain", "winding/new", "root/new", "similar"})
    n.check_refused(name);
  REQUIRE_THROWS_AS(make_folder(n.in("folder/new")), Error);
  REQUIRE_FALSE(fs::exists(n.folder.file("outside/new")));
}

TEST_CASE("a link to nothing is refused, because writing would follow it") {
  const Neighbours n;
  n.link(n.folder.file("outside/new"), "file");
  n.link("../new", "folder");
  n.check_refused("file");
  n.check_refused("folder/x");
}

TEST_CASE("links that stay in the project work, even to missing files") {
  const Neighbours n;
  n.link("software", "short");
  n.link(n.in("software/new"), "long");
  write_file(n.in("short/a"), "1");
  write_file(n.in("long"), "2");
  REQUIRE(read_file(n.in("software/a")) == "1");
  REQUIRE(read_file(n.in("software/new")) == "2");
  REQUIRE(fs::is_symlink(n.in("long")));
}

TEST_CASE("circular links and things that are not files are errors") {
  const Neighbours n;
  n.link("second", "first");
  n.link("first", "second");
  REQUIRE_THROWS_WITH(write_file(n.in("first"), "x"), Catch::Contains("first'"));
  REQUIRE(::mkfifo(n.in("pipe").c_str(), 0600) == 0);
  REQUIRE_THROWS_WITH(write_file(n.in("pipe"), "x"), Catch::Contains("not a file"));
  REQUIRE_THROWS_WITH(write_file(n.in(std::string(300, 'n')), "x"),
                      Catch::Contains("name too long"));
}

TEST_CASE("the project itself, and other paths that its user names, may be links") {
  const Neighbours n;
  const std::string alias = n.folder.file("alias"), output = n.folder.file("output");
  fs::create_symlink(n.project, alias);
  fs::create_symlink(n.secret, output);
  keep_writes_inside(alias + "/");
  write_file(alias + "/a", "1");
  REQUIRE(read_file(n.in("a")) == "1");
  n.link("../outside", "folder");
  REQUIRE_THROWS_AS(write_file(alias + "/folder/new", "x"), Error);
  write_file(output, "asked for");
  REQUIRE(read_file(n.secret) == "asked for");
}
