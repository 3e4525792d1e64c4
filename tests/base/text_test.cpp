// SPDX-License-Identifier: Apache-2.0
// Text functions: splitting, exact number text, quoting and the nearest name.
#include "base/text.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

using namespace mase;

TEST_CASE("split keeps empty parts and join undoes it") {
  REQUIRE(split("a,,b", ',') == std::vector<std::string>{"a", "", "b"});
  REQUIRE(split("", ',') == std::vector<std::string>{""});
  REQUIRE(split("a,", ',') == std::vector<std::string>{"a", ""});
  REQUIRE(join({"a", "", "b"}, ", ") == "a, , b");
  REQUIRE(join({}, ",").empty());
}

TEST_CASE("trim and replace_all") {
  REQUIRE(trim(" \t a b\r\n") == "a b");
  REQUIRE(trim(" \n").empty());
  REQUIRE(replace_all("a.b.c", ".", "..") == "a..b..c");  // the replacement is not scanned again
  REQUIRE(replace_all("aaa", "aa", "b") == "ba");
  REQUIRE(replace_all("abc", "", "x") == "abc");
}

TEST_CASE("identifier characters are ASCII letters, digits and the underscore") {
  for (const char c : std::string("azAZ09_")) REQUIRE(is_identifier_char(c));
  for (const char c : std::string("-.@[`{/: \xC3")) REQUIRE_FALSE(is_identifier_char(c));
}

TEST_CASE("double_text is the shortest text that reads back, and never looks like an integer") {
  REQUIRE(double_text(0.1) == "0.1");
  REQUIRE(double_text(1.0) == "1.0");
  REQUIRE(double_text(-0.0) == "-0.0");
  REQUIRE(double_text(1e-5) == "1e-05");
  REQUIRE(double_text(0.1 + 0.2) == "0.30000000000000004");
  REQUIRE(double_text(std::numeric_limits<double>::infinity()) == "inf");
  REQUIRE(double_text(-std::numeric_limits<double>::infinity()) == "-inf");
  REQUIRE(double_text(-std::nan("")) == "nan");
  for (const double value : {5e-324, 1.7976931348623157e308, 1.0 / 3.0, 123456789012.0, 1e22})
    REQUIRE(parse_double(double_text(value)) == value);
}

TEST_CASE("fixed_text has the asked number of decimals") {
  REQUIRE(fixed_text(2.0 / 3.0, 2) == "0.67");
  REQUIRE(fixed_text(-1.0, 0) == "-1");
  REQUIRE(fixed_text(1e300, 1).size() == 303);
  REQUIRE(fixed_text(std::nan(""), 2) == "nan");
}

TEST_CASE("numbers are parsed only when they fill the whole text") {
  REQUIRE(parse_int("-9223372036854775808") == INT64_MIN);
  REQUIRE(parse_int("+7") == 7);
  for (const char* bad : {"", "9223372036854775808", "1.0", "1 ", " 1", "0x10", "+-1", "+"})
    REQUIRE_FALSE(parse_int(bad));
  REQUIRE(parse_double("1e-3") == 0.001);
  REQUIRE(parse_double("+2") == 2.0);
  REQUIRE(std::isnan(*parse_double("nan")));
  REQUIRE(std::isinf(*parse_double("-inf")));
  for (const char* bad : {"", "1.0x", "e5", "+-1", "1,5"}) REQUIRE_FALSE(parse_double(bad));
}

TEST_CASE("quote escapes as JSON does and replaces ill-formed UTF-8") {
  REQUIRE(quote("a\"\\\n\t\x01/") == "\"a\\\"\\\\\\n\\t\\u0001/\"");
  REQUIRE(quote(std::string_view("\0", 1)) == "\"\\u0000\"");
  REQUIRE(quote("\xC3\xA9\xF0\x9F\x98\x80") == "\"\xC3\xA9\xF0\x9F\x98\x80\"");
  REQUIRE(quote("\xFF"
                "a") ==
          "\"\xEF\xBF\xBD"
          "a\"");
  REQUIRE(quote("\xC0\xAF") == "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");      // overlong '/'
  REQUIRE(quote("\xED\xA0\x80").find('\xED') == std::string::npos);  // a surrogate
}

TEST_CASE("another program's word for something leads to ours") {
  CHECK(did_you_mean("--epochs", {"--max-epochs", "--json"}) == "; here it is '--max-epochs'");
  CHECK(did_you_mean("INT8", {"integer", "mxint8"}) == "; here it is 'integer(width=8)'");
  CHECK(did_you_mean("int8", {"mxint8"}) == "; did you mean 'mxint8'?");
}

TEST_CASE("nearest finds typing mistakes only") {
  const std::vector<std::string> names = {"data_in_width", "data_in_frac_width", "weight_width",
                                          "by"};
  REQUIRE(nearest("data_in_widht", names) == "data_in_width");
  REQUIRE(nearest("WEIGHT_WIDTH", names) == "weight_width");
  REQUIRE(nearest("weigth_width", names) == "weight_width");
  REQUIRE_FALSE(nearest("sparsity", names));
  REQUIRE_FALSE(nearest("xx", names));  // as far from "by" as any word of two letters
  REQUIRE_FALSE(nearest("", names));
  REQUIRE_FALSE(nearest(std::string(100000, 'a'), names));
}
