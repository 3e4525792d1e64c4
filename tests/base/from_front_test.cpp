// SPDX-License-Identifier: Apache-2.0
// Places that are counted from the end.
#include "base/from_front.hpp"

#include <catch2/catch.hpp>

namespace mase {

TEST_CASE("a negative index counts from the end, and one outside is none") {
  CHECK(from_front(0, 3) == 0u);
  CHECK(from_front(2, 3) == 2u);
  CHECK(from_front(-1, 3) == 2u);
  CHECK(from_front(-3, 3) == 0u);
  CHECK(from_front(3, 3) == std::nullopt);
  CHECK(from_front(-4, 3) == std::nullopt);
  CHECK(from_front(0, 0) == std::nullopt);
}

}  // namespace mase
