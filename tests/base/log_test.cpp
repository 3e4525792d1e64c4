// SPDX-License-Identifier: Apache-2.0
// Messages on stderr: their form and the level below which they are dropped.
#include "base/log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "base/file.hpp"
#include "support/temporary_folder.hpp"

using namespace mase;

namespace {

/// What `action` writes to stderr.
template <class Action>
std::string stderr_of(Action action) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("stderr");
  const int kept = ::dup(2);
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT, 0600);
  ::dup2(file, 2);
  action();
  ::dup2(kept, 2);
  ::close(kept);
  ::close(file);
  return read_file(path);
}

}  // namespace

TEST_CASE("messages are plain lines that start with their level") {
  REQUIRE(stderr_of([] {
            log::info("loaded {} \x41");  // braces are text, not a format
            log::warning("slow");
            log::error("bad");
            log::debug("hidden");
          }) == "info: loaded {} A\nwarning: slow\nerror: bad\n");
}

TEST_CASE("the level selects the messages that are printed") {
  log::set_level(log::parse_level("warning"));
  REQUIRE(stderr_of([] {
            log::info("hidden");
            log::warning("shown");
          }) == "warning: shown\n");
  log::set_level(log::parse_level("debug"));
  REQUIRE(stderr_of([] { log::debug("shown"); }) == "debug: shown\n");
  log::set_level(log::Level::info);
  REQUIRE_THROWS_WITH(
      log::parse_level("loud"),
      "unknown log level \"loud\"; allowed: debug | info | warning | error | critical");
}
