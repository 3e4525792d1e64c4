// SPDX-License-Identifier: Apache-2.0
// Orders of memory of tensors whose strides are those that torch documents.
#include "passes/constants/memory_order.hpp"

#include <catch2/catch.hpp>

using namespace mase;
using namespace mase::passes;

TEST_CASE("a row-major tensor is dense, whatever strides dimensions of 1 have") {
  CHECK(memory_order({2, 3, 4}, {12, 4, 1}) == MemoryOrder::dense);
  CHECK(memory_order({2, 1, 3}, {3, 99, 1}) == MemoryOrder::dense);
  CHECK(memory_order({}, {}) == MemoryOrder::dense);
  CHECK(memory_order({0, 3}, {1, 7}) == MemoryOrder::dense);
}

TEST_CASE("slices leave gaps, transposes and channels last permute") {
  CHECK(memory_order({2, 3}, {8, 1}) == MemoryOrder::gaps);      // w[:, :3] of [2, 8]
  CHECK(memory_order({2, 3}, {6, 2}) == MemoryOrder::gaps);      // w[:, ::2] of [2, 6]
  CHECK(memory_order({4, 3}, {1, 4}) == MemoryOrder::permuted);  // w.t() of [3, 4]
  CHECK(memory_order({2, 3, 4, 5}, {60, 1, 15, 3}) == MemoryOrder::permuted);
  CHECK(slowest_first({60, 1, 15, 3}) == std::vector<std::size_t>{0, 2, 3, 1});
}

TEST_CASE("repeated elements, and a transpose with gaps, are neither") {
  CHECK(memory_order({4, 3}, {0, 1}) == MemoryOrder::other);  // w.expand(4, 3)
  CHECK(memory_order({3, 2}, {1, 8}) == MemoryOrder::other);  // w[:, :3].t() of [2, 8]
}
