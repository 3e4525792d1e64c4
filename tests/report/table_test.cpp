// SPDX-License-Identifier: Apache-2.0
// Text tables and CSV.
#include "report/table.hpp"

#include <catch2/catch.hpp>

using namespace mase::report;

TEST_CASE("a boxed table is as wide as its widest cells and aligns as asked") {
  REQUIRE(
      boxed({"Name", "Bits"}, {{"fc1", "8"}, {"long_name", "16"}}, {Align::left, Align::right}) ==
      "+-----------+------+\n"
      "| Name      | Bits |\n"
      "+-----------+------+\n"
      "| fc1       |    8 |\n"
      "| long_name |   16 |\n"
      "+-----------+------+\n");
  REQUIRE(boxed({"abcd"}, {{"x"}}, {Align::center}) ==
          "+------+\n| abcd |\n+------+\n|  x   |\n+------+\n");
}

TEST_CASE("cells wrap at a blank, or anywhere when there is none") {
  REQUIRE(boxed({"k"}, {{"one two three"}, {"abcdefgh"}}, {}, 7) ==
          "+---------+\n"
          "| k       |\n"
          "+---------+\n"
          "| one two |\n"
          "| three   |\n"
          "| abcdefg |\n"
          "| h       |\n"
          "+---------+\n");
}

TEST_CASE("width counts code points, and line breaks make a cell higher") {
  REQUIRE(plain({"\xC2\xB5s", "n"}, {{"\xC3\xA9\xC3\xA9\xC3\xA9", "1"}, {"a\nb", "2"}},
                {Align::left, Align::right}) ==
          "\xC2\xB5s   n\n"
          "---  -\n"
          "\xC3\xA9\xC3\xA9\xC3\xA9  1\n"
          "a    2\n"
          "b\n");
  REQUIRE(boxed({"x"}, {{"\xC3\xA9\xC3\xA9\xC3\xA9"}}, {}, 2) ==
          "+----+\n| x  |\n+----+\n| \xC3\xA9\xC3\xA9 |\n| \xC3\xA9  |\n+----+\n");
}

TEST_CASE("tables without rows, short rows and long rows keep their form") {
  REQUIRE(boxed({"a"}, {}) == "+---+\n| a |\n+---+\n");
  REQUIRE(boxed({"a", "b"}, {{"1"}, {"1", "2", "3"}}) ==
          "+---+---+---+\n"
          "| a | b |   |\n"
          "+---+---+---+\n"
          "| 1 |   |   |\n"
          "| 1 | 2 | 3 |\n"
          "+---+---+---+\n");
}

TEST_CASE("CSV quotes as RFC 4180 says") {
  REQUIRE(csv({"a", "b"}, {{"1,2", "say \"x\""}, {"line\nbreak", " plain "}, {"", ""}}) ==
          "a,b\r\n\"1,2\",\"say \"\"x\"\"\"\r\n\"line\nbreak\", plain \r\n,\r\n");
}
