// SPDX-License-Identifier: Apache-2.0
// The graphs of devices: Megatron's layout of a perceptron and a cut between two stages, by hand.
#include "sharding/rank_graph.hpp"

#include <catch2/catch.hpp>

#include "ir/text.hpp"
#include "sharding/layout_metadata.hpp"

namespace mase::sharding {
namespace {

constexpr const char* perceptron = R"(graph "g" {
  module up : torch.nn.modules.linear.Linear = aten::linear() [weight=@up.weight, bias=@up.bias]
  module down : torch.nn.modules.linear.Linear = aten::linear() [weight=@down.weight, bias=@down.bias]
  tensor up.weight : float32[8, 4] parameter grad
  tensor up.bias : float32[8] parameter grad
  tensor down.weight : float32[4, 8] parameter grad
  tensor down.bias : float32[4] parameter grad
  %x : float32[2, 4] = placeholder x
  %up : float32[2, 8] = call_module up aten::linear(input=%x)
  %down : float32[2, 4] = call_module down aten::linear(input=%up)
  %output : float32[2, 4] = output output(value=%down)
}
)";

ir::Graph filled() {
  ir::Graph graph = ir::parse(perceptron, "test");
  for (auto& [path, tensor] : graph.tensors) {
    Array value(DType::float32, tensor.value.shape());
    auto* numbers = reinterpret_cast<float*>(value.mutable_bytes());
    for (std::int64_t i = 0; i < numel(value.shape()); ++i) numbers[i] = static_cast<float>(i);
    tensor.value = value;
  }
  return graph;
}

Layout layout(std::vector<AxisSet> split, AxisSet partial = 0) {
  return {std::move(split), partial};
}

/// Writes layouts: of the operands, of the result as it is computed and as it is found.
void write(ir::Graph& graph, const char* name, std::vector<Layout> operands, Layout computed,
           Layout found) {
  const ir::Node& node = *graph.find_node(name);
  NodeLayout made;
  made.operands = operands_of(graph, node);
  made.strategy.operands = std::move(operands);
  made.strategy.result = std::move(computed);
  made.result = std::move(found);
  write_layout(graph.node(node.id), made);
}

std::vector<std::string> ops_of(const ir::Graph& graph) {
  std::vector<std::string> ops;
  for (const ir::NodeId id : graph.order())
    if (!graph.node(id).op.empty()) ops.push_back(graph.node(id).op);
  return ops;
}

std::vector<float> numbers_of(const ir::Graph& graph, const std::string& start) {
  for (const auto& [path, tensor] : graph.tensors)
    if (path.starts_with(start)) {
      const auto* first = reinterpret_cast<const float*>(tensor.value.bytes());
      return {first, first + numel(tensor.value.shape())};
    }
  return {};
}

}  // namespace

TEST_CASE("each device has its outputs of one layer and its inputs of the next", "[sharding]") {
  ir::Graph graph = filled();
  const Layout whole = Layout::whole(2), columns = layout({0, 2});
  write(graph, "x", {}, whole, whole);
  write(graph, "up", {whole, layout({2, 0}), layout({2})}, columns, columns);
  write(graph, "down", {columns, columns, layout({0}, 2)}, layout({0, 0}, 2), whole);
  write(graph, "output", {whole}, {}, {});
  Mesh mesh;
  mesh.sizes = {1, 2};
  for (const int rank : {0, 1}) {
    const ir::Graph part = rank_graph(graph, mesh, rank);
    CHECK(ops_of(part) ==
          std::vector<std::string>{"aten::linear", "aten::linear", "mase::all_reduce"});
    CHECK(part.find_node("up")->info.shape == Shape{2, 4});
    const float first = rank == 0 ? 0 : 4;
    CHECK(numbers_of(part, "up.bias") ==
          std::vector<float>{first, first + 1, first + 2, first + 3});
    CHECK(numbers_of(part, "up.weight").front() == (rank == 0 ? 0 : 16));
    CHECK(numbers_of(part, "down.weight")[4] == (rank == 0 ? 8 : 12));  // the second row begins
    // The bias is added once.
    CHECK(numbers_of(part, "down.bias") ==
          (rank == 0 ? std::vector<float>{0, 1, 2, 3} : std::vector<float>(4)));
  }
}

TEST_CASE("each device looks ids up in its rows of a table", "[sharding]") {
  ir::Graph graph = ir::parse(R"(graph "g" {
  module table : torch.nn.modules.sparse.Embedding = aten::embedding(padding_idx=-1) [weight=@t]
  tensor t : float32[9, 2] parameter grad
  %x : int64[4] = placeholder x
  %table : float32[4, 2] = call_module table aten::embedding(indices=%x)
  %output : float32[4, 2] = output output(value=%table)
}
)",
                              "test");
  const Layout whole = Layout::whole(2), ids = Layout::whole(1);
  write(graph, "x", {}, ids, ids);
  write(graph, "table", {ids, layout({2, 0})}, layout({0, 0}, 2), whole);
  write(graph, "output", {whole}, {}, {});
  Mesh mesh;
  mesh.sizes = {1, 3};
  const std::vector<std::string> looked_up{"aten::masked_fill.Scalar", "aten::embedding",
                                           "aten::unsqueeze", "aten::masked_fill.Scalar",
                                           "mase::all_reduce"};
  const std::vector<std::vector<std::string>> before{
      {"aten::ge.Scalar"},
      {"aten::sub.Scalar", "aten::lt.Scalar", "aten::ge.Scalar", "aten::logical_or"},
      {"aten::sub.Scalar", "aten::lt.Scalar"}};
  for (const int rank : {0, 1, 2}) {
    const ir::Graph part = rank_graph(graph, mesh, rank);
    std::vector<std::string> ops = before[std::size_t(rank)];
    ops.insert(ops.end(), looked_up.begin(), looked_up.end());
    CHECK(ops_of(part) == ops);
    for (const ir::NodeId id : part.order())
      if (part.node(id).op == "aten::sub.Scalar")
        CHECK(part.node(id).find("other")->as_int() == 3 * rank);
  }
}

TEST_CASE("stages send what crosses the cut, and the last one the result", "[sharding]") {
  ir::Graph graph = filled();
  const Layout whole = Layout::whole(2), bias = Layout::whole(1);
  write(graph, "x", {}, whole, whole);
  write(graph, "up", {whole, whole, bias}, whole, whole);
  write(graph, "down", {whole, whole, bias}, whole, whole);
  write(graph, "output", {whole}, {}, {});
  write_stage(graph.node(graph.find_node("up")->id), 0);
  write_stage(graph.node(graph.find_node("down")->id), 1);
  write_stage(graph.node(graph.output()), 1);
  const Mesh one;
  const ir::Graph first = rank_graph(graph, one, 0, 2), last = rank_graph(graph, one, 1, 2);
  CHECK(ops_of(first) == std::vector<std::string>{"aten::linear", "mase::send", "mase::receive"});
  CHECK(ops_of(last) == std::vector<std::string>{"mase::receive", "aten::linear", "mase::send"});
  CHECK(numbers_of(first, "down").empty());
  CHECK(numbers_of(last, "up").empty());
}

}  // namespace mase::sharding
