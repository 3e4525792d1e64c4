// SPDX-License-Identifier: Apache-2.0
// Writing TOML: the layout, and the round trip of random trees.
#include <catch2/catch.hpp>
#include <limits>

#include "base/error.hpp"
#include "base/random.hpp"
#include "config/toml.hpp"

using namespace mase;
using config::parse_toml;
using config::to_toml;

namespace {

std::string random_text(Random& random) {
  static const std::string pieces[] = {"a",  "B7", "_",  "-",  ".",        " ",
                                       "\"", "\\", "\n", "\t", "\x7F",     "\x01",
                                       "'",  "#",  "=",  "[",  "\xC3\xA9", "\xF0\x9F\x98\x80",
                                       "NA"};
  std::string out;
  for (std::uint64_t i = random.below(5); i > 0; --i)
    out += pieces[random.below(std::size(pieces))];
  return out;
}

double random_double(Random& random) {
  static const double special[] = {0.0,    -0.0,  1.0, 1e-5,
                                   5e-324, 1e300, 0.1, std::numeric_limits<double>::infinity()};
  return random.below(2) ? special[random.below(std::size(special))] : random.normal();
}

Tree random_tree(Random& random, int depth);

Tree random_dict(Random& random, int depth) {
  Tree out = Tree::dict();
  for (std::uint64_t i = random.below(5); i > 0; --i)
    out[random_text(random)] = random_tree(random, depth - 1);
  return out;
}

Tree random_tree(Random& random, int depth) {
  Tree list = Tree::list();
  switch (random.below(depth > 0 ? 7 : 4)) {
    case 0:
      return Tree(random.below(2) == 1);
    case 1:
      return Tree(static_cast<std::int64_t>(random.below(UINT64_MAX)));
    case 2:
      return Tree(random_double(random));
    case 3:
      return Tree(random_text(random));
    case 4:
      for (std::uint64_t i = random.below(4); i > 0; --i)
        list.push_back(random_tree(random, depth - 1));
      return list;
    case 5:
      for (std::uint64_t i = random.below(3); i > 0; --i)
        list.push_back(random_dict(random, depth - 1));
      return list;
    default:
      return random_dict(random, depth);
  }
}

}  // namespace

TEST_CASE("values come first, then tables under headers, table arrays under double ones") {
  Tree tree;
  tree["name"] = "jsc";
  tree["lr"] = 0.001;
  tree["sizes"] = Tree::list_of(std::vector<int>{16, 64});
  tree["none"] = Tree();
  tree["passes"]["quantize"]["by"] = "type";
  tree["passes"]["quantize"]["default.linear"]["width"] = 8;
  Tree pass;
  pass["name"] = "count";
  tree["pass"].push_back(pass);
  tree["pass"].push_back(Tree::dict());
  tree["empty"] = Tree::dict();
  REQUIRE(to_toml(tree) ==
          "name = \"jsc\"\nlr = 0.001\nsizes = [16, 64]\nnone = \"NA\"\n\n"
          "[passes.quantize]\nby = \"type\"\n\n[passes.quantize.\"default.linear\"]\nwidth = 8\n\n"
          "[[pass]]\nname = \"count\"\n\n[[pass]]\n\n[empty]\n");
}

TEST_CASE("a table before a value is written with dotted keys, so that the order stays") {
  Tree tree;
  tree["model"]["name"] = "toy";
  tree["model"]["sub"]["x"] = 1;
  tree["model"]["none"] = Tree::dict();
  tree["seed"] = 42;
  REQUIRE(to_toml(tree) == "model.name = \"toy\"\nmodel.sub.x = 1\nmodel.none = {}\nseed = 42\n");
  REQUIRE(parse_toml(to_toml(tree), "x") == tree);
}

TEST_CASE("strings, keys and numbers are written so that they read back as they were") {
  Tree tree;
  tree["a b"] = "\"\\\n\t\x7F\x01";
  tree[""] = 1.0;
  tree["k-1_Z"] = INT64_MIN;
  REQUIRE(to_toml(tree) ==
          "\"a b\" = \"\\\"\\\\\\n\\t\\u007F\\u0001\"\n\"\" = 1.0\n"
          "k-1_Z = -9223372036854775808\n");
  REQUIRE(parse_toml(to_toml(tree), "x") == tree);
}

TEST_CASE("random trees survive writing and reading, order included") {
  Random random(8);
  for (int i = 0; i < 2000; ++i) {
    const Tree tree = random_dict(random, 4);
    const std::string text = to_toml(tree);
    INFO(text);
    REQUIRE(parse_toml(text, "x") == tree);
  }
}

TEST_CASE("only a table has a TOML text") { REQUIRE_THROWS_AS(to_toml(Tree(3)), Error); }
