// SPDX-License-Identifier: Apache-2.0
// Options on top of options.
#include "base/join_trees.hpp"

#include <catch2/catch.hpp>

using namespace mase;

TEST_CASE("tables are joined entry by entry, other values are replaced") {
  const Tree below = parse_json(R"({"a": {"b": 1, "c": [1, 2]}, "d": 4})", "below");
  const Tree above = parse_json(R"({"a": {"c": [3], "e": {"f": 5}}, "d": {"g": 6}})", "above");
  CHECK(to_json(join_trees(below, above), -1) ==
        R"({"a":{"b":1,"c":[3],"e":{"f":5}},"d":{"g":6}})");
  CHECK(join_trees(below, Tree::dict()) == below);
  CHECK(join_trees(Tree::dict(), above) == above);
  CHECK(join_trees(below, Tree(7)) == Tree(7));
}
