// SPDX-License-Identifier: Apache-2.0
// Diagnostics and errors: their text, order and exit codes.
#include "base/diagnostics.hpp"

#include <catch2/catch.hpp>

#include "base/error.hpp"

using namespace mase;

TEST_CASE("a place prints as file, line and column as far as known") {
  REQUIRE(SourceLocation{"x.toml", 3, 16}.text() == "x.toml:3:16");
  REQUIRE(SourceLocation{"x.toml", 3, 0}.text() == "x.toml:3");
  REQUIRE(SourceLocation{"x.toml", 0, 0}.text() == "x.toml");
  REQUIRE(SourceLocation{}.text().empty());
}

TEST_CASE("diagnostics print in source order, each with its place") {
  Diagnostics diagnostics;
  diagnostics.error({"x.toml", 9, 1}, "second");
  diagnostics.warning({"x.toml", 3, 16}, "first");
  diagnostics.error({}, "nowhere");
  REQUIRE(diagnostics.text() ==
          "error: nowhere\nx.toml:3:16: warning: first\nx.toml:9:1: error: second");
}

TEST_CASE("a message that is repeated at a place appears once") {
  Diagnostics diagnostics;
  for (const int line : {4, 4, 5}) diagnostics.error({"x.toml", line, 1}, "unknown option");
  REQUIRE(diagnostics.text() ==
          "x.toml:4:1: error: unknown option\nx.toml:5:1: error: unknown option");
}

TEST_CASE("only errors end the phase, and the exception holds them all") {
  Diagnostics diagnostics;
  diagnostics.warning({"x.toml", 1, 1}, "careful");
  REQUIRE_NOTHROW(diagnostics.throw_if_errors());
  diagnostics.error({"x.toml", 2, 1}, "one");
  diagnostics.error({"x.toml", 3, 1}, "two");
  try {
    diagnostics.throw_if_errors();
    FAIL("no exception");
  } catch (const Error& error) {
    REQUIRE(error.exit_code() == 2);
    REQUIRE_THAT(error.what(), Catch::Contains("error: one") && Catch::Contains("error: two"));
  }
}

TEST_CASE("a failed check is an internal error that names condition and message") {
  try {
    MASE_CHECK(1 == 2, "pass 'prune', node 'fc1'");
    FAIL("no exception");
  } catch (const Error& error) {
    REQUIRE(error.exit_code() == 5);
    REQUIRE_THAT(error.what(), Catch::Contains("1 == 2") && Catch::Contains("node 'fc1'") &&
                                   Catch::Contains("diagnostics_test.cpp:"));
  }
}
