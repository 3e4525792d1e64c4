// SPDX-License-Identifier: Apache-2.0
// Conditions as Python computes them: its expressions were pasted into Python 3, with x of [4, 6].
#include "ir/guards.hpp"

#include <catch2/catch.hpp>

#include "ir/graph.hpp"

namespace mase::ir {
namespace {

std::optional<bool> value_of(const std::string& condition) {
  return holds(condition, [](const ReadSize& size) -> std::optional<std::int64_t> {
    if (size.name != "x" || size.dim > 1) return std::nullopt;
    return size.dim == 0 ? 4 : 6;
  });
}

}  // namespace

TEST_CASE("conditions on sizes are those of Python") {
  for (const char* text :
       {"size(x, 0) == 4", "size(x, 0)*size(x, 1) % 5 == 4", "2 + 3 * size(x, 0) == 14",
        "-7 // 2 == -4", "-7 % 3 == 2", "7 // (-2) == -4", "7 % (-3) == -2", "10 - 3 - 2 == 5",
        "((size(x, 1)*size(x, 0)) % 2) == 0", "size(x, 0) < 4 or size(x, 1) >= 6",
        "not (size(x, 0) != 4)", "not size(x, 0) > 4 and size(x, 1) <= 6"}) {
    INFO(text);
    CHECK(value_of(text) == true);
  }
  for (const char* text : {"size(x, 0) == 5", "size(x, 0) < 4 or size(x, 1) > 6",
                           "(size(x, 0) // 3) * 3 == size(x, 0)"}) {
    INFO(text);
    CHECK(value_of(text) == false);
  }
}

TEST_CASE("other texts are not conditions") {
  for (const std::string& text :
       {std::string(""), std::string("size(x, 0)"), std::string("size(y, 0) == 4"),
        std::string("size(x, 2) == 4"), std::string("size(x, 0) == 4 is true"),
        std::string("size(x, 0) % 0 == 0"), std::string("4 == "), std::string("(4 == 4"),
        std::string("Max(1, size(x, 0)) == 4"), std::string("size(x, 0) == 4.0"),
        std::string("4 orx == 4"), std::string("9223372036854775807 * 9 == 1"),
        std::string("9999999999999999999999 > 1"), std::string(long_expression),
        std::string(100000, '(')}) {
    INFO(text.substr(0, 80));
    CHECK(value_of(text) == std::nullopt);
  }
}

}  // namespace mase::ir
