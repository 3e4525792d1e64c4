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

TEST_CASE("addmm shares rows, columns and products, and adds the addend once", "[sharding]") {
  const ir::Graph graph = ir::parse(
      "graph \"g\" {\n  %b : float32[6] = placeholder b\n  %x : float32[2, 4] = placeholder x\n"
      "  %y : float32[4, 6] = placeholder y\n  %z : float32[2, 6] = call_function torch.addmm "
      "aten::addmm(self=%b, mat1=%x, mat2=%y)\n"
      "  %output : float32[2, 6] = output output(value=%z)\n}\n",
      "test");
  const ir::Node& node = *graph.find_node("z");
  const std::vector<Split> all = splits_of(graph, node, operands_of(graph, node));
  REQUIRE(all.size() == 3);
  CHECK(all[0].operands == std::vector<int>{whole_operand, 0, whole_operand});
  CHECK(all[0].result == 0U);
  CHECK(all[1].operands == std::vector<int>{0, whole_operand, 1});
  CHECK(all[1].result == 1U);
  CHECK(all[2].operands == std::vector<int>{once_operand, 1, 0});
  CHECK(!all[2].result);
}

TEST_CASE("groups are the units of a grouped convolution's channels", "[sharding]") {
  const ir::Graph graph = ir::parse(
      "graph \"g\" {\n  %x : float32[2, 8, 4] = placeholder x\n  %w : float32[16, 4, 3] = "
      "placeholder w\n  %z : float32[2, 16, 2] = call_function torch.conv1d "
      "aten::conv1d(input=%x, weight=%w, groups=2)\n"
      "  %output : float32[2, 16, 2] = output output(value=%z)\n}\n",
      "test");
  const ir::Node& node = *graph.find_node("z");
  const std::vector<Split> all = splits_of(graph, node, operands_of(graph, node));
  REQUIRE(all.size() == 2);
  CHECK(all[0].operands == std::vector<int>{0, whole_operand});
  CHECK(all[1].operands == std::vector<int>{1, 0});
  CHECK(all[1].result == 1U);
  CHECK(all[1].units == 2);
}

TEST_CASE("letters of an einsum are loops, but for those of a diagonal", "[sharding]") {
  const ir::Graph graph = ir::parse(
      "graph \"g\" {\n  %x : float32[2, 3, 3, 4] = placeholder x\n  %y : float32[5, 1] = "
      "placeholder y\n  %z : float32[3, 5, 2] = call_function torch.functional.einsum "
      "aten::einsum(equation=\"bddk,ck->dcb\", tensors=[%x, %y])\n"
      "  %output : float32[3, 5, 2] = output output(value=%z)\n}\n",
      "test");
  const ir::Node& node = *graph.find_node("z");
  const std::vector<Split> all = splits_of(graph, node, operands_of(graph, node));
  REQUIRE(all.size() == 3);
  CHECK(all[0].operands == std::vector<int>{0, whole_operand});  // b
  CHECK(all[0].result == 2U);
  CHECK(all[1].operands == std::vector<int>{whole_operand, 0});  // c
  CHECK(all[1].result == 1U);
  CHECK(all[2].operands == std::vector<int>{3, whole_operand});  // k, whose size in y is 1
  CHECK(!all[2].result);
}

}  // namespace mase::sharding
