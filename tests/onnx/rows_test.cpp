// SPDX-License-Identifier: Apache-2.0
// Rows of operators: which nodes they write, and what they refuse.
#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>

#include "base/error.hpp"
#include "onnx/models.hpp"
#include "onnx/operators.hpp"
#include "support/message_of.hpp"

namespace mase::onnx {
namespace {

std::string refusal_of(const Model& model) {
  return test::message_of(Fault::unsupported, [&] { text_of(model); });
}

Attribute whole(const std::string& name, std::int64_t value) { return {name, value, ""}; }

/// An LSTM of 3 features and 2 hidden ones.
Model lstm_model(std::vector<Attribute> attributes) {
  Node node = node_of("LSTM", {"x", "w", "r", "b"}, {"y"}, std::move(attributes));
  node.name = "/rnn/LSTM";
  return model_of({5, 4, 3}, {node},
                  {ones("w", {1, 8, 3}), ones("r", {1, 8, 2}), ones("b", {1, 16})});
}

}  // namespace

TEST_CASE("a recurrent layer of ONNX is a layer of torch.nn") {
  const ir::Graph graph =
      import_model(lstm_model({whole("hidden_size", 2)}), {.path = "model.onnx"}).graph;
  REQUIRE(graph.modules.contains("rnn"));
  const ir::Module& module = graph.modules.at("rnn");
  CHECK(module.class_name == "torch.nn.modules.rnn.LSTM");
  CHECK(module.op == "mase::lstm");
  CHECK(graph.tensors.at("rnn.weight_ih_l0").value.shape() == Shape{8, 3});
  CHECK(graph.tensors.at("rnn.bias_hh_l0").value.shape() == Shape{8});
}

TEST_CASE("an LSTM takes both parts of its state as a tuple, as torch.nn does") {
  Model model = lstm_model({whole("hidden_size", 2)});
  model.graph.nodes[0].inputs = {"x", "w", "r", "b", "", "h", "c"};
  for (const char* name : {"h", "c"}) model.graph.inputs.push_back(value(name, {1, 4, 2}));
  CHECK_THAT(text_of(model), Catch::Contains("mase::lstm(input=%x, hx=(%h, %c))"));
}

TEST_CASE("a recurrent layer that torch.nn does not have is written out step by step") {
  const ir::Graph graph =
      import_model(lstm_model({whole("hidden_size", 2), whole("input_forget", 1)}),
                   {.path = "model.onnx"})
          .graph;
  CHECK(graph.modules.empty());
  CHECK(std::ranges::count(graph.order(), "aten::rsub.Scalar",
                           [&](ir::NodeId id) { return graph.node(id).op; }) == 5);
  const Attribute functions{"activations", Attribute::Strings{"Sigmoid", "Affine", "Tanh"}, ""};
  CHECK_THAT(refusal_of(lstm_model({whole("hidden_size", 2), functions})),
             Catch::Contains("'/rnn/LSTM'") && Catch::Contains("Affine has no counterpart"));
}

TEST_CASE("the branch of a condition that is known takes the place of its node") {
  const auto body = [](const std::string& op) {
    auto graph = std::make_shared<Graph>();
    graph->nodes = {node_of(op, {"x"}, {op})};
    graph->outputs = {value(op, {})};
    return std::shared_ptr<const Graph>(graph);
  };
  Tensor condition{"c", ElementType::boolean, Array(DType::boolean, {}), "", {}};
  const Model model =
      model_of({0, 8},
               {node_of("If", {"c"}, {"y"},
                        {{"then_branch", body("Relu"), ""}, {"else_branch", body("Tanh"), ""}})},
               {condition});
  CHECK(text_of(model) ==
        "%x : float32[2, 8] = placeholder x\n"
        "%tanh : float32[2, 8] = call_function torch.tanh aten::tanh(self=%x)\n"
        "%output : float32[2, 8] = output output(value=%tanh)\n");
}

TEST_CASE("operators without a counterpart are refused with the reason") {
  CHECK_THAT(refusal_of(model_of({0, 8}, {node_of("NonZero", {"x"}, {"y"})})),
             Catch::Contains("node 'y_node' (NonZero)") && Catch::Contains("depends on values"));
  for (const Operator& one : operators()) {
    INFO(one.name);
    CHECK(!one.opsets.empty());
    CHECK((one.refusal.empty() || one.opsets.size() == 1));
  }
}

TEST_CASE("limits of an activation are its own") {
  const auto clipped = [](float low, float high) {
    const auto limit = [](const std::string& name, float number) {
      Array array(DType::float32, {});
      array.mutable_span<float>()[0] = number;
      return Tensor{name, ElementType::float32, array, "", {}};
    };
    return text_of(model_of({0, 8}, {node_of("Clip", {"x", "low", "high"}, {"y"})},
                            {limit("low", low), limit("high", high)}));
  };
  CHECK_THAT(clipped(0, 6), Catch::Contains("aten::relu6(self=%x)"));
  CHECK_THAT(clipped(-1, 2), Catch::Contains("aten::hardtanh(self=%x, min_val=-1.0, max_val=2.0)"));
}

}  // namespace mase::onnx
