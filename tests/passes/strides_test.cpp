// SPDX-License-Identifier: Apache-2.0
// Which shapes torch's Tensor.view gives, and which it refuses.
#include "passes/constants/strides.hpp"

#include <catch2/catch.hpp>

using namespace mase;
using namespace mase::passes;

TEST_CASE("strides of a tensor in order count what lies behind a dimension") {
  CHECK(dense_strides({2, 3, 4}) == Shape{12, 4, 1});
  CHECK(dense_strides({5}) == Shape{1});
  CHECK(dense_strides({}) == Shape{});
}

TEST_CASE("a view joins what lies in each other and splits anything") {
  CHECK(can_view({2, 3, 4}, {12, 4, 1}, {6, 2, 2}));
  CHECK(can_view({2, 3, 4}, {12, 4, 1}, {4, 6}));
  CHECK(can_view({2, 3, 4}, {12, 4, 1}, {24, 1}));
  // Its first two dimensions swapped.
  CHECK(can_view({3, 2, 4}, {4, 12, 1}, {3, 1, 2, 2, 2}));
  CHECK_FALSE(can_view({3, 2, 4}, {4, 12, 1}, {6, 4}));
  CHECK_FALSE(can_view({3, 2, 4}, {4, 12, 1}, {3, 8}));
  // The last two swapped.
  CHECK(can_view({2, 4, 3}, {12, 1, 4}, {2, 2, 2, 3}));
  CHECK_FALSE(can_view({2, 4, 3}, {12, 1, 4}, {8, 3}));
  // Dimensions of 1 are never in the way.
  CHECK(can_view({2, 1, 3}, {3, 99, 1}, {6}));
  CHECK(can_view({1, 1}, {7, 9}, {1}));
}
