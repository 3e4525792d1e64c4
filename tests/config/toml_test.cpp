// SPDX-License-Identifier: Apache-2.0
// Reading TOML: values, order, places and errors; and hostile text.
#include "config/toml.hpp"

#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/random.hpp"
#include "base/text.hpp"
#include "test_paths.hpp"

using namespace mase;
using config::parse_toml;

namespace {

std::string refusal(const std::string& text) {
  try {
    parse_toml(text, "x.toml");
  } catch (const Error& error) {
    REQUIRE(error.fault() == Fault::config);
    return error.what();
  }
  return "";
}

std::string keys(const Tree& dict) {
  std::vector<std::string> names;
  for (const auto& [key, entry] : dict.as_dict()) names.push_back(key);
  return join(names, " ");
}

std::string repeat(const std::string& text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += text;
  return out;
}

}  // namespace

TEST_CASE("every kind of value is read") {
  const Tree tree = parse_toml(
      "a = true\nb = 0xFF\nc = -9223372036854775808\nd = 1e3\ne = \"\\u00e9\"\nf = [1, 2.5, "
      "\"x\"]\n"
      "g = { h = 1, i = {} }\nj = '''\n'x'\\n'''\nk = [[1], []]\nl = -inf\n",
      "x.toml");
  REQUIRE(tree.at("a").as_bool());
  REQUIRE(tree.at("b").as_int() == 255);
  REQUIRE(tree.at("c").as_int() == INT64_MIN);
  REQUIRE(tree.at("d").is_double());
  REQUIRE(tree.at("e").as_string() == "\xC3\xA9");
  REQUIRE(to_json(tree.at("f"), -1) == "[1,2.5,\"x\"]");
  REQUIRE(to_json(tree.at("g"), -1) == "{\"h\":1,\"i\":{}}");
  REQUIRE(tree.at("j").as_string() == "'x'\\n");
  REQUIRE(to_json(tree.at("k"), -1) == "[[1],[]]");
  REQUIRE(tree.at("l").as_double() < -1e308);
}

TEST_CASE("entries are in the order of the file, not of the alphabet") {
  const Tree tree = parse_toml(
      "zoo = 1\nant = 2\n[passes.quantize]\nby = 'type'\n[passes.add]\n[passes.quantize.linear]\n"
      "width = 8\n[another]\n[passes.count]\n",
      "x.toml");
  REQUIRE(keys(tree) == "zoo ant passes another");
  REQUIRE(keys(tree.at("passes")) == "quantize add count");
  REQUIRE(keys(tree.at("passes").at("quantize")) == "by linear");
  REQUIRE(keys(parse_toml("b.z = 1\na = 1\nb.c = 2\nb.a.x = 3\n", "x").at("b")) == "z c a");
  REQUIRE(keys(parse_toml("t = { z = 1, a = 2, m = 3 }", "x").at("t")) == "z a m");
}

TEST_CASE("every entry has the places of its key and value") {
  const Tree tree = parse_toml(
      "\n  width = 8\n[a.b]\n c.d = [ 1,\n  2 ]\n[[p]]\nx = 1\n[[p]]\ny = 2\n", "x.toml");
  const Tree& width = tree.at("width");
  REQUIRE(width.key_where.text() == "x.toml:2:3");
  REQUIRE(width.where.text() == "x.toml:2:11");
  REQUIRE(tree.at("a").key_where.text() == "x.toml:3:2");
  REQUIRE(tree.at("a").where.line == 3);
  REQUIRE(tree.at("a").at("b").key_where.text() == "x.toml:3:4");
  const Tree& c = tree.at("a").at("b").at("c");
  REQUIRE(c.key_where.text() == "x.toml:4:2");
  REQUIRE(c.where.line == 4);
  REQUIRE(c.at("d").key_where.text() == "x.toml:4:4");
  REQUIRE(c.at("d").as_list()[1].where.text() == "x.toml:5:3");
  REQUIRE(tree.at("p").size() == 2);
  REQUIRE(tree.at("p").key_where.text() == "x.toml:6:3");
  REQUIRE(tree.at("p").as_list()[1].at("y").key_where.text() == "x.toml:9:1");
  REQUIRE(tree.where.text() == "x.toml");
}

TEST_CASE("a word without quotes is shown with them") {
  REQUIRE_THAT(refusal("by = type\n"), Catch::EndsWith("in quotes: by = \"type\""));
  REQUIRE_THAT(refusal("[t]\nname = integer"), Catch::EndsWith("in quotes: name = \"integer\""));
  REQUIRE_THAT(refusal("a = 1 b = 2"), !Catch::Contains("quotes"));
}

TEST_CASE("syntax errors name file, line and column") {
  REQUIRE_THAT(refusal("a = 1\nb = \n"), Catch::StartsWith("x.toml:2:5: error: "));
  REQUIRE_THAT(refusal("a = 1\na = 2\n"), Catch::StartsWith("x.toml:2:") && Catch::Contains("'a'"));
  REQUIRE_THAT(refusal("[t]\n[t]\n"), Catch::StartsWith("x.toml:2:"));
  REQUIRE_THAT(refusal("a = 9223372036854775808"), Catch::StartsWith("x.toml:1:"));
  REQUIRE_THAT(refusal("a = \"open\n"), Catch::StartsWith("x.toml:1:"));
  REQUIRE_THAT(refusal("a = 1 b = 2"), Catch::StartsWith("x.toml:1:7"));
}

TEST_CASE("dates and times are refused at their place") {
  for (const char* value : {"1979-05-27", "07:32:00", "1979-05-27T07:32:00Z"})
    REQUIRE_THAT(refusal("x = 1\nd = " + std::string(value)),
                 Catch::StartsWith("x.toml:2:5: error: dates and times"));
}

TEST_CASE("NUL bytes and ill-formed UTF-8 are refused at their place") {
  REQUIRE(refusal(std::string("a = 1\nb\0= 2", 12)) == "x.toml:2:2: error: NUL byte in the text");
  REQUIRE(refusal("# \xC3\xA9\n# \xC3\xA9 \xFF") == "x.toml:2:5: error: this is not UTF-8 text");
  REQUIRE_FALSE(refusal("\xFF\xFE"
                        "a\0=\0"
                        "1\0")
                    .empty());
}

TEST_CASE("a quote after a dot begins a part of a key, but is within a word of a value") {
  for (const char* text : {"a = 1.\"\xC3\xA9\"",
                           "a = 1\x04"
                           "ab.\"\xC3\xA9\"",
                           "a = [2, 1.\"\xC3\xA9\"]", "a = [\n1.'x']", "a = {b = 1.\"x\"}",
                           "[[t]]\na = [{b = 1}, 1.\"x\"]"}) {
    INFO(text);
    CHECK_THAT(refusal(text), Catch::Contains("a quote in the middle of a word"));
  }
  const Tree tree = parse_toml(
      "a.\"\xC3\xA9\" = 1\n[x.\"y\"]\n1.\"b\" = {c.\"d\" = [[2], [3]], e.'f' = 4}\n[[z.'q']]\n",
      "x");
  CHECK(tree.at("a").at("\xC3\xA9").as_int() == 1);
  CHECK(tree.at("x").at("y").at("1").at("b").at("c").at("d").as_list().size() == 2);
  CHECK(tree.at("x").at("y").at("1").at("b").at("e").at("f").as_int() == 4);
  CHECK(tree.at("z").at("q").is_list());
}

TEST_CASE("a bracket in the middle of a word opens nothing") {
  // Were it an inline table, the quote would begin a part of a key, which the parser sees as a
  // word.
  for (const char* text : {"a = 1{b.\"\xC3\xA9\"", "a = [1{b.\"\xC3\xA9\"]", "a = x[\"\xC3\xA9\"",
                           "a{b = 1", "[a]\nb[0] = 1"}) {
    INFO(text);
    CHECK_THAT(refusal(text), Catch::Contains("a bracket in the middle of a word"));
  }
  const Tree tree = parse_toml("\xEF\xBB\xBF[a]\nb=[[1],{c={d=[]}},\t[\n[2]]]\n[[e.f]]\n", "x");
  CHECK(tree.at("a").at("b").as_list().size() == 3);
  CHECK(tree.at("e").at("f").as_list().size() == 1);
}

TEST_CASE("an equals sign within a value begins no other") {
  // The parser takes it for a part of the word, and the quote behind it too.
  for (const char* text : {"a = -0='\xCB\x9E'", "a = =\"\xC3\xA9\"", "a = [1=\"\xC3\xA9\"]",
                           "a = {b = 1='x'}", "a = 1==\"x\""}) {
    INFO(text);
    CHECK_THAT(refusal(text), Catch::Contains("a quote in the middle of a word"));
  }
  const Tree tree =
      parse_toml("a = [{b='1'}, {c={d='='}, e=\"2\"}]\nf = 3 # = =\n[g]\nh='4'\n", "x");
  CHECK(tree.at("a").as_list().at(1).at("e").as_string() == "2");
  CHECK(tree.at("g").at("h").as_string() == "4");
}

TEST_CASE("characters that are not ASCII are allowed in strings and comments only") {
  const Tree tree =
      parse_toml("\xEF\xBB\xBF# \xC3\xA9\n\"\xC3\xA9\" = '\xD0\x96' # \xE3\x81\x82\n", "x");
  REQUIRE(tree.at("\xC3\xA9").as_string() == "\xD0\x96");
  REQUIRE_THAT(refusal("a = 1\nb\xC3\xA9 = 1"), Catch::StartsWith("x.toml:2:2: error: characters"));
  REQUIRE_THAT(refusal("a = 1\xC3\xA9"), Catch::StartsWith("x.toml:1:6: error: characters"));
  REQUIRE_THAT(refusal("a = \"\\\xC3\xA9\""), Catch::Contains("backslash"));
  REQUIRE_THAT(refusal("a = \"\"\"\\\n \xC3\xA9\"\"\""),
               Catch::StartsWith("x.toml:2:2: error: text"));
  REQUIRE(parse_toml("a = \"\"\"\\\n x\xC3\xA9\"\"\"", "x").at("a").as_string() == "x\xC3\xA9");
}

TEST_CASE("a quote within a word is refused before the parser reads on to the word's end") {
  REQUIRE_THAT(refusal("a = 1\"\xC3\xA9\""), Catch::StartsWith("x.toml:1:6: error: a quote"));
  REQUIRE_THAT(refusal("b = 2\na'b = 1"), Catch::StartsWith("x.toml:2:2: error: a quote"));
  const Tree tree = parse_toml("\xEF\xBB\xBF\"a\".'b' = [\"x\",'y']\nc={\"d\"=\"\"}", "x");
  REQUIRE(tree.at("a").at("b").size() == 2);
  REQUIRE(tree.at("c").at("d").as_string().empty());
}

TEST_CASE("a missing file is the configuration's fault and named") {
  try {
    config::read_toml("no/such.toml");
    FAIL("no exception");
  } catch (const Error& error) {
    REQUIRE(error.exit_code() == 2);
    REQUIRE_THAT(error.what(), Catch::Contains("no/such.toml': No such file"));
  }
  REQUIRE_THROWS_AS(config::read_toml(MASE_TEST_FOLDER), Error);
}

TEST_CASE("nesting that could exhaust the stack is refused, in every form") {
  const int many = 100000;
  REQUIRE_THAT(refusal("a = " + repeat("[", many)), Catch::Contains("nested deeper than 32"));
  REQUIRE_THAT(refusal("a = " + repeat("{a=", many)), Catch::Contains("nested deeper than 32"));
  REQUIRE_THAT(refusal("[a" + repeat(".a", many) + "]\nx = !"),
               Catch::Contains("more than 32 parts"));
  REQUIRE_THAT(refusal("a" + repeat(" . a", many) + " = 1"), Catch::Contains("more than 32 parts"));
  REQUIRE_THAT(refusal("\"[\"" + repeat(".'='.\"\\\",\"", many) + " = 1"),
               Catch::Contains("more than 32 parts"));
  REQUIRE_THAT(refusal("x = { s = \"\"\" ' \"\"\", a" + repeat(".\"[\"", many) + " = 1 }"),
               Catch::Contains("more than 32 parts"));
  REQUIRE_THAT(refusal("x = { s = \"\"\"\"\"\"\"\", a" + repeat(".a", many) + " = 1 }"),
               Catch::Contains("more than 32 parts"));
}

TEST_CASE("brackets and dots in strings, comments and numbers do not count as nesting") {
  REQUIRE_NOTHROW(parse_toml("a = \"" + repeat("[.", 1000) + "\"", "x"));
  REQUIRE_NOTHROW(parse_toml("a = '''\n" + repeat("{'.''", 1000) + " '''''", "x"));
  REQUIRE_NOTHROW(parse_toml("# " + repeat("[a.b", 1000) + "\na = 1", "x"));
  REQUIRE_NOTHROW(parse_toml("a = [" + repeat("1.5, -2.5e-3, ", 1000) + "]", "x"));
  REQUIRE_NOTHROW(parse_toml(repeat("[[a]]\nx = [[1.5], []]\n", 1000), "x"));
  REQUIRE_NOTHROW(parse_toml("a = " + repeat("[", 32) + repeat("]", 32), "x"));
}

TEST_CASE("every truncation and random mutations end in a tree or a configuration error") {
  const std::string good =
      "model = \"toy\" # comment\nlr = 1e-3\n[passes.quantize]\nby = 'type'\n\"a b\".c = [1, 2.5]\n"
      "[passes.quantize.default.config]\nname = \"NA\"\n[[pass]]\nx = { y = -0x1F, z = \"\\u00e9\" "
      "}\n"
      "s = \"\"\"\nlong\\\n   \"\"\"\n";
  REQUIRE(refusal(good.substr(0, good.find("-0x"))).size() > 0);
  for (std::size_t size = 0; size < good.size(); ++size) refusal(good.substr(0, size));
  Random random(6);
  const std::string special = "[]{}.,=\"'\\\n#+-_ex0:\x7F";
  for (int i = 0; i < 5000; ++i) {
    std::string text = good;
    for (std::uint64_t edits = 1 + random.below(6); edits > 0; --edits) {
      const std::size_t at = random.below(text.size());
      switch (random.below(4)) {
        case 0:
          text[at] = static_cast<char>(random.below(256));
          break;
        case 1:
          text.insert(at, 1, special[random.below(special.size())]);
          break;
        default:
          text.erase(at, 1 + random.below(8));
      }
    }
    refusal(text);  // fails the test on any other exception
  }
}
