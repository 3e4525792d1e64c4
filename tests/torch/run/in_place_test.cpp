// SPDX-License-Identifier: Apache-2.0
// Operators that write over their first argument: where they do, and where they must not.
#include "torch/run/in_place.hpp"

#include <ATen/ATen.h>

#include <map>
#include "torch/catch.hpp"

#include "ir/text.hpp"
#include "torch/run/executor.hpp"

using namespace mase;
using libtorch::Executor;

namespace {

ir::Graph graph_of(const std::string& nodes, const std::string& modules = "") {
  return ir::parse(
      "graph \"small\" {\n" + modules + "  %x : float32[2, 3] = placeholder x\n" + nodes + "}\n",
      "small");
}

const at::Tensor& some_values() {
  static const at::Tensor values = at::arange(-3, 3).to(at::kFloat).view({2, 3});
  return values;
}

/// Where the values of every node lay.
std::map<std::string, const void*> places(Executor& executor) {
  std::map<std::string, const void*> found;
  executor.run({some_values()}, {}, [&](const ir::Node& node, const c10::IValue& value) {
    if (value.isTensor()) found[node.name] = value.toTensor().data_ptr();
  });
  return found;
}

}  // namespace

TEST_CASE("a result takes the place of an argument that nobody reads again") {
  Executor executor(
      graph_of("  %neg : float32[2, 3] = call_function neg aten::neg(self=%x)\n"
               "  %relu : float32[2, 3] = call_function relu aten::relu(self=%neg)\n"
               "  %total : float32[2, 3] = call_function add aten::add.Tensor(self=%relu, "
               "other=%x, alpha=1)\n"
               "  %output : float32[2, 3] = output output(value=%total)\n"),
      ir::Level::floating);
  const auto found = places(executor);
  CHECK(found.at("neg") != found.at("x"));  // the caller's
  CHECK(found.at("relu") == found.at("neg"));
  CHECK(found.at("total") == found.at("relu"));
  const at::Tensor expected = at::relu(at::neg(some_values())) + some_values();
  CHECK(at::equal(executor.run({some_values()}).toTensor(), expected));
  CHECK(at::equal(some_values(), at::arange(-3, 3).to(at::kFloat).view({2, 3})));
}

TEST_CASE("what is read again, or seen through a view, keeps its values") {
  Executor executor(
      graph_of("  %neg : float32[2, 3] = call_function neg aten::neg(self=%x)\n"
               "  %view : float32[3, 2] = call_function view aten::view(self=%neg, size=[3, 2])\n"
               "  %relu : float32[2, 3] = call_function relu aten::relu(self=%neg)\n"
               "  %relu_1 : float32[2, 3] = call_function relu aten::relu(self=%relu)\n"
               "  %less : bool[2, 3] = call_function lt aten::lt.Scalar(self=%relu_1, other=1)\n"
               "  %output : tuple(float32[3, 2], float32[2, 3], bool[2, 3]) = output "
               "output(value=(%view, %relu, %less))\n"),
      ir::Level::floating);
  const auto results = executor.run({some_values()}).toTuple()->elements();
  const at::Tensor neg = at::neg(some_values());
  CHECK(at::equal(results[0].toTensor(), neg.view({3, 2})));
  CHECK(at::equal(results[1].toTensor(), at::relu(neg)));
  CHECK(at::equal(results[2].toTensor(), at::relu(neg) < 1));
}

TEST_CASE("arguments of other sizes or types get a tensor of their own") {
  Executor executor(
      graph_of(
          "  %total : float32[1, 3] = call_function sum aten::sum.dim_IntList(self=%x, dim=[0], "
          "keepdim=true)\n"
          "  %wide : float32[1, 3] = call_function add aten::add.Tensor(self=%total, other=%x, "
          "alpha=1)\n"
          "  %output : float32[1, 3] = output output(value=%wide)\n"),
      ir::Level::floating);  // the graph's shapes say less than the tensors do
  CHECK(at::equal(executor.run({some_values()}).toTensor(),
                  some_values().sum(0, true) + some_values()));
}

namespace {

/// -x, normalised by a batch norm whose argument `training` is that text.
ir::Graph normalised(const std::string& training) {
  return graph_of(
      "  %neg : float32[2, 3] = call_function neg aten::neg(self=%x)\n"
      "  %bn : float32[2, 3] = call_module bn aten::batch_norm(input=%neg)\n"
      "  %output : float32[2, 3] = output output(value=%bn)\n",
      "  module bn : torch.nn.modules.batchnorm.BatchNorm1d = "
      "aten::batch_norm(training=" +
          training +
          ", momentum=0.1, eps=1e-05, cudnn_enabled=true) [weight=@bn.weight, "
          "bias=@bn.bias, running_mean=@bn.mean, running_var=@bn.var]\n"
          "  tensor bn.weight : float32[3] parameter grad\n"
          "  tensor bn.bias : float32[3] parameter grad\n"
          "  tensor bn.mean : float32[3] buffer\n"
          "  tensor bn.var : float32[3] buffer\n");
}

}  // namespace

TEST_CASE("a batch norm in eval mode writes over its input and gives the same bits") {
  ir::Graph graph = normalised("$training");
  const auto set = [&](const char* path, std::initializer_list<float> values) {
    graph.tensors.at(path).value = Array::from(std::vector<float>(values), {3});
    return at::tensor(at::ArrayRef<float>(values));
  };
  const at::Tensor weight = set("bn.weight", {0.3F, -1.7F, 2}), bias = set("bn.bias", {0.1F, 5, 0});
  const at::Tensor mean = set("bn.mean", {0.7F, 0, -0.2F}), var = set("bn.var", {1.3F, 0.2F, 9});
  Executor executor(graph, ir::Level::floating);
  const auto found = places(executor);
  CHECK(found.at("bn") == found.at("neg"));
  CHECK(
      at::equal(executor.run({some_values()}).toTensor(),
                at::batch_norm(-some_values(), weight, bias, mean, var, false, 0.1, 1e-5, false)));
}

TEST_CASE("a batch norm that is fixed to eval mode has gradients in a training run") {
  ir::Graph graph = normalised("false");
  graph.tensors.at("bn.weight").value = Array::from(std::vector<float>{1, 2, 4}, {3});
  graph.tensors.at("bn.var").value = Array::from(std::vector<float>{1, 1, 1}, {3});
  Executor executor(graph, ir::Level::floating);
  executor.own_tensors();
  executor.run_training({some_values()}).toTensor().sum().backward();
  // The sum of the normalised columns: mean 0 and variance 1 leave -x.
  const at::Tensor expected = -some_values().sum(0);
  CHECK(at::allclose(executor.tensors().at("bn.weight").grad(), expected, 1e-4));
}
