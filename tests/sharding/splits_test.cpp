// SPDX-License-Identifier: Apache-2.0
// Which dimensions the devices can share, beside what the operators compute.
#include "sharding/splits.hpp"

#include <catch2/catch.hpp>

#include "ir/text.hpp"

namespace mase::sharding {
namespace {

/// The dimensions of the result that a pool over an image of this shape can share.
std::vector<std::size_t> shared_by_pool(const std::string& shape) {
  const ir::Graph graph = ir::parse(
      "graph \"g\" {\n  module p : torch.nn.modules.pooling.MaxPool2d = aten::max_pool2d("
      "kernel_size=[3, 3], stride=[1, 1], padding=[1, 1], dilation=[1, 1], ceil_mode=false)\n"
      "  %x : float32" +
          shape + " = placeholder x\n  %p : float32" + shape +
          " = call_module p aten::max_pool2d(self=%x)\n  %output : float32" + shape +
          " = output output(value=%p)\n}\n",
      "test");
  const ir::Node& pool = *graph.find_node("p");
  std::vector<std::size_t> shared;
  for (const Split& split : splits_of(graph, pool, operands_of(graph, pool))) {
    REQUIRE(split.result);
    CHECK(split.operands == std::vector<int>{static_cast<int>(*split.result)});
    shared.push_back(*split.result);
  }
  return shared;
}

}  // namespace

TEST_CASE("a pool shares channels and images, but no rows of an image", "[sharding]") {
  CHECK(shared_by_pool("[2, 4, 8, 8]") == std::vector<std::size_t>{0, 1});
  CHECK(shared_by_pool("[4, 8, 8]") == std::vector<std::size_t>{0});
}

}  // namespace mase::sharding
