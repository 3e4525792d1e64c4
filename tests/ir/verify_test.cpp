// SPDX-License-Identifier: Apache-2.0
// The verifier finds each broken invariant and accepts sound graphs.
#include "ir/verify.hpp"

#include <catch2/catch.hpp>

#include "ir/id_of.hpp"
#include "ir/text.hpp"
#include "random_graph.hpp"

namespace mase::ir {
namespace {

using test::id_of;

Graph sound() {
  return parse(R"(graph "sound" {
    module fc : torch.nn.modules.linear.Linear = aten::linear() [weight=@fc.weight]
    tensor fc.weight : float32[4, 4] parameter
    %x = placeholder x {data_out=integer(8, 4)}
    %fc = call_module fc aten::linear(input=%x) {data_in=integer(8, 4), weight=integer(8, 4)}
    %weight = get_attr fc.weight
    %add = call_function _operator.add aten::add.Tensor(self=%fc, other=%weight)
    %output = output output(value=%add)
  })",
               "sound");
}

void complains(const Graph& graph, const std::string& expected) {
  const std::vector<std::string> found = verify(graph);
  REQUIRE_FALSE(found.empty());
  CHECK_THAT(found.front(), Catch::Contains(expected));
}

}  // namespace

TEST_CASE("a sound graph has no complaints") { CHECK(verify(sound()).empty()); }

TEST_CASE("a tensor begins one input of its type, and is no unused tensor") {
  const auto graph_of = [](const std::string& begins) {
    return parse("graph \"state\" {\n  tensor h : float32[2] buffer begins " + begins +
                     "\n  tensor n : int64[2] buffer begins n\n  %h : float32[2] = placeholder h\n"
                     "  %n : int64[2] = placeholder n\n  %output = output output(value=%h)\n}",
                 "state");
  };
  Graph graph = graph_of("h");
  CHECK(verify(graph).empty());
  remove_unused_tensors(graph);
  CHECK(graph.tensors.at("h").begins == "h");
  CHECK(print(parse(print(graph), "again")) == print(graph));
  complains(graph_of("x"), "tensor 'h' begins 'x', which is not an input of its type");
  complains(graph_of("h\n  tensor g : float32[2] buffer begins h"),
            "two tensors are what input 'h' begins with");
}

TEST_CASE("references must lead to earlier live nodes") {
  Graph graph = sound();
  graph.node(id_of(graph, "fc")).args[0].value = NodeRef{id_of(graph, "add")};
  complains(graph, "node 'fc' argument 'input' refers to 'add', which comes later");
  graph.node(id_of(graph, "fc")).args[0].value = Value::list({NodeRef{77}});
  complains(graph, "node 'fc' argument 'input' refers to a node that was removed");
}

TEST_CASE("names may change only through the graph") {
  Graph graph = sound();
  graph.node(id_of(graph, "fc")).name = "other";
  complains(graph, "node 'other' was renamed");
  graph = sound();
  graph.node(id_of(graph, "fc")).name = "a b";
  complains(graph, "node 'a b' has a name outside");
}

TEST_CASE("placeholders come first, one output last") {
  Graph graph = sound();
  graph.add({.kind = NodeKind::placeholder, .target = "late"}, id_of(graph, "add"));
  complains(graph, "node 'late' is a placeholder after other nodes");
  graph = sound();
  Node second{.kind = NodeKind::output, .target = "output"};
  second.args.push_back({"value", Value()});
  graph.add(std::move(second));
  complains(graph, "node 'output' is the output but not the last node");
  graph = sound();
  graph.erase(graph.output());
  complains(graph, "graph 'sound' has no output node");
  graph = sound();
  graph.node(graph.output()).args.clear();
  complains(graph, "needs exactly one argument");
}

TEST_CASE("modules, tensors and operators must be there and fit") {
  Graph graph = sound();
  graph.modules.clear();
  complains(graph, "node 'fc' calls the module 'fc', which is missing");
  graph = sound();
  graph.modules.at("fc").op = "aten::relu";
  complains(graph, "node 'fc' has the operator 'aten::linear' but its module has 'aten::relu'");
  graph = sound();
  graph.tensors.clear();
  graph.tensor_order.clear();
  complains(graph, "node 'fc' needs the tensor 'fc.weight' as weight, which is missing");
  CHECK(verify(graph).size() == 2);
  graph = sound();
  graph.node(id_of(graph, "add")).op.clear();
  complains(graph, "node 'add' has no operator");
  graph = sound();
  graph.node(id_of(graph, "x")).op = "aten::relu";
  complains(graph, "node 'x' has the operator 'aten::relu' but computes nothing");
  graph = sound();
  graph.node(id_of(graph, "add")).args.push_back({"self", 1});
  complains(graph, "node 'add' has the argument 'self' twice");
}

TEST_CASE("formats are only on ports that the op has") {
  Graph graph = sound();
  const formats::Format format = formats::parse_format("integer(8, 4)");
  graph.node(id_of(graph, "add")).formats.emplace("weight", format);
  complains(graph, "node 'add' has a format on 'weight', which op 'add' does not have");
  graph = sound();
  graph.node(graph.output()).formats.emplace("data_out", format);
  complains(graph, "node 'output' has a format on 'data_out'");
  graph = sound();
  graph.node(id_of(graph, "x")).formats.emplace("data_in", format);
  complains(graph, "node 'x' has a format on 'data_in'");
}

TEST_CASE("the order of tensors lists each of them once") {
  Graph graph = sound();
  graph.tensor_order.push_back("fc.weight");
  complains(graph, "lists a tensor twice");
  graph = sound();
  graph.tensor_order = {"other"};
  complains(graph, "tensor 'fc.weight' is not in tensor_order");
}

TEST_CASE("two tensors never share a name") {
  Graph graph = sound();
  graph.tensors.at("fc.weight").other_names = {"head.weight"};
  CHECK(verify(graph).empty());
  graph.tensors.at("fc.weight").other_names.push_back("head.weight");
  complains(graph, "two tensors have the name 'head.weight'");
}

}  // namespace mase::ir
