// SPDX-License-Identifier: Apache-2.0
// The executor: formats on ports, gradients, training mode, refusals, and inputs of other types.
#include "torch/run/executor.hpp"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <cmath>
#include "torch/catch.hpp"

#include "base/error.hpp"
#include "ir/text.hpp"
#include "torch/fixtures.hpp"
#include "torch/run/operators.hpp"
#include "torch/run/quantize_op.hpp"
#include "torch/run/tensors.hpp"
#include "torch/small_graphs.hpp"

using namespace mase;
using namespace mase::test;
using libtorch::Executor;
using libtorch::find_host_operator;
using libtorch::HostOperator;

namespace {

/// y = W x + b with one output: W = [0.3, -0.7], b = 0.26.
ir::Graph small_linear(const std::string& formats) {
  ir::Graph graph = ir::parse(
      "graph \"small\" {\n"
      "  module fc : torch.nn.modules.linear.Linear = aten::linear() [weight=@fc.weight, "
      "bias=@fc.bias]\n"
      "  tensor fc.weight : float32[1, 2] parameter grad\n"
      "  tensor fc.bias : float32[1] parameter grad\n"
      "  %x : float32[1, 2] = placeholder x\n"
      "  %fc : float32[1, 1] = call_module fc aten::linear(input=%x)" +
          formats +
          "\n"
          "  %output : float32[1, 1] = output output(value=%fc)\n"
          "}\n",
      "small");
  graph.tensors.at("fc.weight").value = Array::from<float>({0.3F, -0.7F}, {1, 2});
  graph.tensors.at("fc.bias").value = Array::from<float>({0.26F}, {1});
  return graph;
}

const std::string all_ports =
    " {bias=integer(8, 4), data_in=integer(8, 2), data_out=integer(8, 1), weight=integer(8, 2)}";

float first(const c10::IValue& value) { return value.toTensor().flatten()[0].item<float>(); }

std::vector<c10::IValue> input(float a, float b) { return {at::tensor({a, b}).reshape({1, 2})}; }

}  // namespace

TEST_CASE("formats apply to every port of a quantized run and to none of a float run") {
  const ir::Graph graph = small_linear(all_ports);
  Executor floating(graph, ir::Level::floating), quantized(graph, ir::Level::quantized);
  // 0.3 * 1.1 - 0.7 * 0.4 + 0.26
  CHECK(first(floating.run(input(1.1F, 0.4F))) == Approx(0.31));
  // Quarters: x = (1.0, 0.5), W = (0.25, -0.75); sixteenths: b = 0.25; 0.25 - 0.375 + 0.25 = 0.125,
  // to halves: a tie at 0.125 * 2 = 0.25, which rounds to 0.
  CHECK(first(quantized.run(input(1.1F, 0.4F))) == 0.0F);
  // x = (2.0, 0.0): 0.5 + 0.25 = 0.75 is 1.5 halves: a tie, to even: 2 halves.
  CHECK(first(quantized.run(input(2.0F, 0.0F))) == 1.0F);
}

TEST_CASE("an observer sees tensors before and after quantization") {
  const auto evaluator = evaluator_of(small_linear(all_ports), ir::Level::quantized);
  std::map<std::string, float> seen;
  evaluator->run({Array::from<float>({1.1F, 0.4F}, {1, 2})},
                 [&](const ir::Node& node, const std::string& port, const Array& value) {
                   seen[node.name + " " + port] = value.span<float>()[0];
                 });
  CHECK(seen.at("fc data_in.raw") == 1.1F);
  CHECK(seen.at("fc data_in") == 1.0F);
  CHECK(seen.at("fc weight.raw") == 0.3F);
  CHECK(seen.at("fc weight") == 0.25F);
  CHECK(seen.at("fc bias") == 0.25F);
  CHECK(seen.at("fc data_out.raw") == 0.125F);
  CHECK(seen.at("fc data_out") == 0.0F);
  CHECK(seen.at("x data_out") == 1.1F);
  CHECK_FALSE(seen.contains("output data_out"));
}

TEST_CASE("quantized training passes gradients straight through") {
  Executor executor(small_linear(all_ports), ir::Level::quantized);
  executor.own_tensors();
  executor.run_training(input(1.1F, 100.0F)).toTensor().sum().backward();
  const at::Tensor gradient = executor.tensors().at("fc.weight").grad().flatten();
  // dy/dW is the quantized input: 1.0, and 100 saturated to 127 quarters.
  CHECK(gradient[0].item<float>() == 1.0F);
  CHECK(gradient[1].item<float>() == 31.75F);
  CHECK(executor.tensors().at("fc.bias").grad()[0].item<float>() == 1.0F);
}

TEST_CASE("changed parameters reach quantized runs once they are forgotten") {
  Executor executor(small_linear(all_ports), ir::Level::quantized);
  executor.own_tensors();
  CHECK(first(executor.run(input(2.0F, 0.0F))) == 1.0F);
  {
    c10::NoGradGuard guard;
    executor.tensors().at("fc.weight").zero_();
  }
  executor.forget_quantized();
  // Only the bias is left: 0.25 is half a half, a tie to 0.
  CHECK(first(executor.run(input(2.0F, 0.0F))) == 0.0F);
}

TEST_CASE("training mode uses batch statistics, updates the running ones and counts batches") {
  const Fixture& tiny = fixture("jsc_tiny", "script");
  ir::Graph graph = import_fixture(tiny);
  const Array before = graph.tensors.at("seq_blocks.0.running_mean").value;
  const auto counted =
      graph.tensors.at("seq_blocks.0.num_batches_tracked").value.span<std::int64_t>()[0];
  Executor executor(graph, ir::Level::floating);
  executor.own_tensors();
  const at::Tensor x = libtorch::copy_of(tiny.inputs[0]);
  executor.run_training({x});
  executor.store_tensors(graph);
  const Array after = graph.tensors.at("seq_blocks.0.running_mean").value;
  for (std::int64_t i = 0; i < 16; ++i) {
    const float mean = x.select(1, i).mean().item<float>();
    CHECK(after.span<float>()[i] ==
          Approx(0.9 * before.span<float>()[i] + 0.1 * mean).margin(1e-6));
  }
  CHECK(graph.tensors.at("seq_blocks.0.num_batches_tracked").value.span<std::int64_t>()[0] ==
        counted + 1);
  // The array that others hold did not change.
  CHECK(before.same_bits(import_fixture(tiny).tensors.at("seq_blocks.0.running_mean").value));
}

TEST_CASE("dropout drops in training mode only") {
  const Fixture& model = fixture("dropout_mlp", "script");
  Executor executor(import_fixture(model), ir::Level::floating);
  executor.own_tensors();
  const at::Tensor x = libtorch::copy_of(model.inputs[0]);
  CHECK(at::equal(executor.run({x}).toTensor(), executor.run({x}).toTensor()));
  CHECK_FALSE(
      at::equal(executor.run_training({x}).toTensor(), executor.run_training({x}).toTensor()));
}

TEST_CASE("quantization keeps other dtypes and works on views") {
  const formats::Format format = formats::parse_format("integer(8, 1)");
  const at::Tensor whole = at::arange(6);
  CHECK(libtorch::quantize(whole, format).is_same(whole));
  const at::Tensor view = at::tensor({0.2F, 0.3F, 0.8F, 1.3F}).reshape({2, 2}).t();
  const at::Tensor expected = at::tensor({0.0F, 1.0F, 0.5F, 1.5F}).reshape({2, 2});
  CHECK(at::equal(libtorch::quantize(view, format), expected));
}

TEST_CASE("inputs convert when that is exact and are refused otherwise") {
  const Fixture& bert = fixture("bert_tiny", "trace");
  const auto evaluator = evaluator_of(import_fixture(bert));
  std::vector<Array> narrow;
  for (const Array& array : bert.inputs) {
    std::vector<std::int32_t> values(array.span<std::int64_t>().begin(),
                                     array.span<std::int64_t>().end());
    narrow.push_back(Array::from(values, array.shape()));
  }
  CHECK(largest_difference(evaluator->run(narrow), bert.outputs) <= 1e-6);

  const auto tiny = evaluator_of(import_fixture(fixture("jsc_tiny", "script")));
  CHECK_THROWS_WITH(tiny->run({Array(DType::float64, {4, 16})}),
                    Catch::Contains("astype('float32')"));
  CHECK_THROWS_WITH(tiny->run({Array(DType::float32, {16})}), Catch::Contains("[4, 16]"));
  CHECK_THROWS_WITH(tiny->run({}), Catch::Contains("takes 1 inputs (x)"));
  CHECK_THROWS_WITH(tiny->run({Array(DType::float32, {4, 9})}),
                    Catch::Contains("node 'seq_blocks_0'"));
  CHECK(tiny->run({Array(DType::float32, {9, 16})})[0].second.shape() == Shape{9, 5});
}

TEST_CASE("operators that are random, unknown or write files are refused, all at once") {
  const std::string text =
      "graph \"bad\" {\n"
      "  %x : float32[2] = placeholder x\n"
      "  %a : float32[2] = call_function torch.rand_like aten::rand_like(self=%x)\n"
      "  %b : float32[2] = call_function torch.nothing aten::nothing(self=%a)\n"
      "  %c : float32[2] = call_function torch.relu_ aten::relu_(self=%b)\n"
      "  %output : float32[2] = output output(value=%c)\n"
      "}\n";
  try {
    Executor executor(ir::parse(text, "bad"), ir::Level::floating);
    FAIL("not refused");
  } catch (const Error& error) {
    CHECK(error.fault() == Fault::unsupported);
    CHECK_THAT(error.what(), Catch::Contains("node 'a'") && Catch::Contains("node 'b'") &&
                                 Catch::Contains("node 'c'"));
  }
}

TEST_CASE("scalar operators are TorchScript's own, but for those that end the program") {
  const HostOperator* power = find_host_operator("aten::pow.int_float");
  REQUIRE(power);
  CHECK(power->run({16, -0.5}).toDouble() == 0.25);
  CHECK(find_host_operator("aten::pow.int_float") == power);
  for (const char* op : {"aten::__round_to_zero_floordiv.int", "aten::factorial.int",
                         "aten::manual_seed", "aten::warn", "aten::relu", "aten::", "aten::.int",
                         "aten::a::b", "aten:: ", "prim::", "pow", ""})
    CHECK(find_host_operator(op) == nullptr);
  CHECK_THROWS_AS(find_host_operator("aten::remainder.int")->run({1, 0}), Error);
  CHECK_THROWS_AS(find_host_operator("aten::log.int")->run({at::zeros({2})}), std::exception);
}
