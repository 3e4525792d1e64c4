// SPDX-License-Identifier: Apache-2.0
// Tree and its JSON form.
#include "base/tree.hpp"
#include "base/json_items.hpp"
#include "base/text.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "base/file.hpp"

using namespace mase;

namespace {

std::string json_error(const std::string& text) {
  try {
    parse_json(text, "x.json");
  } catch (const Error& error) {
    REQUIRE(error.fault() == Fault::file);
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a dict keeps the order of insertion and finds its entries") {
  Tree tree;
  tree["z"] = 1;
  tree["a"] = "text";
  tree["z"] = 2;
  REQUIRE(tree.size() == 2);
  REQUIRE(tree.as_dict()[0].first == "z");
  REQUIRE(tree.at("z").as_int() == 2);
  REQUIRE(tree.find("b") == nullptr);
  REQUIRE(Tree(3).find("b") == nullptr);
}

TEST_CASE("kinds have TOML's names") {
  const Tree trees[] = {Tree(), true, 1, 1.5, "s", Tree::list(), Tree::dict()};
  const char* names[] = {"null", "bool", "integer", "float", "string", "array", "table"};
  for (int i = 0; i < 7; ++i) REQUIRE(trees[i].kind_name() == names[i]);
}

TEST_CASE("reading a value as another kind is an internal error") {
  REQUIRE(Tree(3).as_double() == 3.0);
  REQUIRE_THROWS_AS(Tree(3).as_string(), Error);
  REQUIRE_THROWS_AS(Tree("3").as_int(), Error);
  REQUIRE_THROWS_AS(Tree(3.0).as_int(), Error);
  REQUIRE_THROWS_AS(Tree::dict().at("x"), Error);
  REQUIRE_THROWS_AS(Tree(3).push_back(1), Error);
}

TEST_CASE("JSON text is compact or indented, in order") {
  Tree tree;
  tree["b"] = Tree::list_of(std::vector<int>{1, 2});
  tree["a"] = 0.1;
  tree["e"] = Tree::dict();
  REQUIRE(to_json(tree, -1) == R"({"b":[1,2],"a":0.1,"e":{}})");
  REQUIRE(to_json(tree, 2) == "{\n  \"b\": [\n    1,\n    2\n  ],\n  \"a\": 0.1,\n  \"e\": {}\n}");
}

TEST_CASE("JSON has no NaN, no infinity and no ill-formed UTF-8") {
  Tree tree = Tree::list();
  tree.push_back(std::nan(""));
  tree.push_back(-std::numeric_limits<double>::infinity());
  tree.push_back(Tree());
  tree.push_back("\xFF");
  REQUIRE(to_json(tree, -1) == "[null,null,null,\"\xEF\xBF\xBD\"]");
}

TEST_CASE("JSON round trip keeps kinds, order and every bit of a number") {
  const std::string text =
      R"({"z":[true,null,-9223372036854775808,1.0,1e-05,5e-324],"a":{"k":"\u00e9\n\u0001"},"":""})";
  const Tree tree = parse_json(text, "x.json");
  REQUIRE(tree.at("z").as_list()[2].as_int() == INT64_MIN);
  REQUIRE(tree.at("z").as_list()[3].is_double());
  REQUIRE(tree.at("z").as_list()[5].as_double() == 5e-324);
  REQUIRE(tree.at("a").at("k").as_string() == "\xC3\xA9\n\x01");
  REQUIRE(parse_json(to_json(tree), "again") == tree);
}

TEST_CASE("integers above the range of int64 become doubles") {
  REQUIRE(parse_json("9223372036854775808", "x").as_double() == 0x1p63);
  REQUIRE(parse_json("9223372036854775807", "x").as_int() == INT64_MAX);
}

TEST_CASE("bad JSON is refused with its place") {
  REQUIRE_THAT(json_error("{\n  \"a\": tru\n}"), Catch::StartsWith("x.json:2:"));
  REQUIRE_THAT(json_error(""), Catch::StartsWith("x.json:1:1"));
  REQUIRE_THAT(json_error("[1,]"), Catch::StartsWith("x.json:1:4"));
  REQUIRE_THAT(json_error("[1] 2"), Catch::StartsWith("x.json:1:5"));
  REQUIRE_THAT(json_error("\"\xFF\""), Catch::StartsWith("x.json:1:2"));
  REQUIRE_THAT(json_error("1e999"), Catch::StartsWith("x.json:1:"));
  REQUIRE_THAT(json_error(R"({"a":1,"b":2,"a":3})"), Catch::Contains("\"a\" occurs twice"));
}

TEST_CASE("items of a long list are shown instead of kept") {
  constexpr std::string_view text =
      R"({"a": {"list": [1, {"x": [2]}, "b"], "dict": {"k": 3, "l": 4}}, "list": [5], "n": 6})";
  std::vector<std::string> seen;
  const auto see = [&](std::span<const std::string> keys, Tree& item) {
    seen.push_back(join({keys.begin(), keys.end()}, "/") + "=" + to_json(item, -1));
    return keys[1] == "list" || keys[2] == "k";
  };
  const Tree rest = parse_json_items(text, "items", 3, see);
  CHECK(seen == std::vector<std::string>{"a/list/=1", "a/list/={\"x\":[2]}", "a/list/=\"b\"",
                                         "a/dict/k=3", "a/dict/l=4"});
  CHECK(to_json(rest, -1) == R"({"a":{"list":[],"dict":{"l":4}},"list":[5],"n":6})");
  CHECK_THROWS_WITH(parse_json_items("{\"a\":\n{\"b\": [1, ]}}", "items", 3, see),
                    Catch::Contains("items:2:"));
}

TEST_CASE("deeply nested JSON is refused, not followed") {
  REQUIRE_NOTHROW(parse_json(std::string(200, '[') + std::string(200, ']'), "x.json"));
  REQUIRE_THAT(json_error(std::string(1000000, '[')), Catch::Contains("nested deeper than 200"));
  std::string objects;
  for (int i = 0; i < 100000; ++i) objects += "{\"a\":";
  REQUIRE_THAT(json_error(objects), Catch::Contains("nested deeper than 200"));
}
