// SPDX-License-Identifier: Apache-2.0
// The graph's node list: order, uses, rewiring, removal, copies.
#include <catch2/catch.hpp>

#include "ir/graph.hpp"
#include "ir/id_of.hpp"
#include "ir/text.hpp"

namespace mase::ir {
namespace {

using test::id_of;

Graph chain() {
  return parse(R"(graph "chain" {
    module fc : torch.nn.modules.linear.Linear = aten::linear() [weight=@fc.weight]
    module gone : torch.nn.modules.linear.Linear = aten::linear() [weight=@gone.weight]
    tensor fc.weight : float32[4, 4] parameter
    tensor fc.count : int64[] buffer
    tensor gone.weight : float32[4, 4] parameter
    tensor scale : float32[] buffer
    tensor spare : float32[] buffer
    %x = placeholder x
    %fc = call_module fc aten::linear(input=%x)
    %scale = get_attr scale
    %mul = call_function _operator.mul aten::mul.Tensor(self=%fc, other=%scale)
    %cat = call_function torch.cat aten::cat(tensors=[%mul, %fc, %mul], dim=1)
    %output = output output(value=({"y": %cat},))
  })",
               "chain");
}

std::vector<std::string> names(const Graph& graph, const std::vector<NodeId>& ids) {
  std::vector<std::string> found;
  for (NodeId id : ids) found.push_back(graph.node(id).name);
  return found;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("users and inputs are listed once, containers included") {
  const Graph graph = chain();
  CHECK(names(graph, graph.users(id_of(graph, "fc"))) == Names{"mul", "cat"});
  CHECK(names(graph, graph.inputs(id_of(graph, "cat"))) == Names{"mul", "fc"});
  CHECK(names(graph, graph.users(id_of(graph, "cat"))) == Names{"output"});
  CHECK(graph.users(graph.output()).empty());
  CHECK(names(graph, graph.placeholders()) == Names{"x"});
}

TEST_CASE("a node is added at the end or before another") {
  Graph graph = chain();
  const NodeId relu =
      graph.add({.kind = NodeKind::call_function, .target = "torch.relu"}, id_of(graph, "mul"));
  CHECK(names(graph, graph.order()) == Names{"x", "fc", "scale", "relu", "mul", "cat", "output"});
  CHECK(graph.find_node("relu")->id == relu);
  CHECK(graph.output() == id_of(graph, "output"));
}

TEST_CASE("replacing uses rewires everything but the new node itself") {
  Graph graph = chain();
  Node relu{.kind = NodeKind::call_function, .target = "torch.relu", .op = "aten::relu"};
  relu.args.push_back({"self", NodeRef{id_of(graph, "fc")}});
  const NodeId id = graph.add(std::move(relu), id_of(graph, "scale"));
  graph.replace_uses(id_of(graph, "fc"), id);
  CHECK(names(graph, graph.users(id_of(graph, "fc"))) == Names{"relu"});
  CHECK(names(graph, graph.users(id)) == Names{"mul", "cat"});
}

TEST_CASE("erasing a used node is refused, an unused one frees its name") {
  Graph graph = chain();
  CHECK_THROWS_WITH(graph.erase(id_of(graph, "mul")),
                    Catch::Contains("'mul' is still used by 'cat'"));
  const NodeId mul = id_of(graph, "mul");
  graph.replace_uses(mul, id_of(graph, "fc"));
  graph.erase(mul);
  CHECK_FALSE(graph.contains(mul));
  CHECK(graph.find_node("mul") == nullptr);
  CHECK_THROWS_AS(graph.node(mul), Error);
  CHECK(names(graph, graph.order()) == Names{"x", "fc", "scale", "cat", "output"});
}

TEST_CASE("dead nodes go in one sweep, inputs and output stay") {
  Graph graph = chain();
  graph.add({.kind = NodeKind::placeholder, .target = "unused"}, id_of(graph, "fc"));
  graph.node(graph.output()).args[0].value = NodeRef{id_of(graph, "fc")};
  CHECK(graph.remove_dead_nodes() == 3);  // cat, then mul, then scale
  CHECK(names(graph, graph.order()) == Names{"x", "unused", "fc", "output"});
  CHECK(graph.remove_dead_nodes() == 0);
}

TEST_CASE("unused tensors and modules are dropped, buffers of called modules kept") {
  Graph graph = chain();
  remove_unused_tensors(graph);
  CHECK(graph.modules.size() == 1);
  CHECK(graph.tensor_order == Names{"fc.weight", "fc.count", "scale"});
  CHECK(graph.tensors.size() == 3);
}

TEST_CASE("a copy shares weights until one of them is written") {
  Graph graph = chain();
  Graph copy = graph;
  CHECK(copy.tensors.at("scale").value.bytes() == graph.tensors.at("scale").value.bytes());
  copy.tensors.at("scale").value.mutable_span<float>()[0] = 2.0F;
  copy.erase(copy.add({.kind = NodeKind::call_function, .target = "torch.relu"}));
  CHECK(graph.tensors.at("scale").value.span<float>()[0] == 0.0F);
  CHECK(copy.order().size() == graph.order().size());
}

TEST_CASE("setting a tensor keeps its place in the order") {
  Graph graph = chain();
  graph.set_tensor("fc.count", {Array(DType::int64, {}), false, false});
  graph.set_tensor("new", {Array(DType::float32, {2}), true, true});
  CHECK(graph.tensor_order ==
        Names{"fc.weight", "fc.count", "gone.weight", "scale", "spare", "new"});
}

TEST_CASE("the module of a node is found by its target") {
  const Graph graph = chain();
  CHECK(graph.module_of(*graph.find_node("fc")).short_class() == "Linear");
  CHECK_THROWS_WITH(graph.module_of(*graph.find_node("mul")), Catch::Contains("calls no module"));
}

TEST_CASE("values compare by kind and content") {
  CHECK(Value(1) == Value(std::int64_t{1}));
  CHECK_FALSE(Value(1) == Value(1.0));
  CHECK_FALSE(Value(true) == Value(1));
  CHECK_FALSE(Value::list({1}) == Value::tuple({1}));
  CHECK_FALSE(Value::list({}) == Value());
  CHECK(Value::dict({{"a", 1}}) == Value::dict({{"a", 1}}));
  CHECK(Value("a") == Value(std::string("a")));
  CHECK_THROWS_AS(Value("a").as_int(), Error);
  CHECK(Value(3).as_double() == 3.0);
}

TEST_CASE("replacing a node inside a value reaches every container") {
  Value value = Value::list({NodeRef{1}, Value::dict({{"k", Value::tuple({NodeRef{1}, 1})}}),
                             Value::slice(NodeRef{1}, NodeRef{2}, Value())});
  CHECK(value.replace_node(1, 5) == 3);
  std::vector<NodeId> seen;
  value.for_each_node([&](NodeId id) { seen.push_back(id); });
  CHECK(seen == std::vector<NodeId>{5, 5, 5, 2});
}

}  // namespace mase::ir
