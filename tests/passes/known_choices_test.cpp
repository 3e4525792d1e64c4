// SPDX-License-Identifier: Apache-2.0
// Choices of calibration that are known from an earlier run are those that a run would make.
#include "passes/calibration/known_choices.hpp"

#include <catch2/catch.hpp>

#include "base/random.hpp"
#include "passes/float_runner.hpp"
#include "passes/tensor_values.hpp"

using namespace mase;
using Formats = std::map<std::string, formats::Format>;

namespace {

std::vector<float> normal_values(std::size_t count) {
  Random random(3);
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(static_cast<float>(random.normal()));
  return values;
}

passes::PassContext rows_of_data() {
  return test::context_with_rows(Array::from(normal_values(256), {64, 4}), 16);
}

ir::Graph model() { return test::two_layers(normal_values(8), {0.7F, -2.5F}); }

/// The formats that calibration gives the ports of `fc`, with widths of data and weights.
Formats formats_with(passes::PassContext& context, ir::Graph graph, int data, int weight,
                     const std::string& method = "minmax") {
  test::run_pass(graph, "quantize",
                 "calibration = \"" + method + "\"\n[linear.config]\ndata_in = \"integer(" +
                     std::to_string(data) + ", auto)\"\nweight = \"integer(" +
                     std::to_string(weight) + ", auto)\"\nbias = \"integer(8, auto)\"\n",
                 context);
  return graph.find_node("fc")->formats;
}

}  // namespace

TEST_CASE("known choices are those of a run, and rows are shown for unknown ones only") {
  int runs = 0;
  passes::PassContext context = rows_of_data();
  const auto rows = context.training_rows;
  context.training_rows = [&](std::int64_t count, const passes::SeeBatch& see) {
    ++runs;
    rows(count, see);
  };
  context.known_choices = std::make_shared<passes::KnownChoices>();
  const auto check = [&](const ir::Graph& graph, int data, int weight, bool runs_again,
                         const std::string& method = "minmax") {
    INFO(data << ", " << weight << ", " << method);
    passes::PassContext alone = rows_of_data();
    const int before = runs;
    CHECK(formats_with(context, graph, data, weight, method) ==
          formats_with(alone, graph, data, weight, method));
    CHECK((runs > before) == runs_again);
  };
  const ir::Graph graph = model();
  check(graph, 8, 8, true);
  check(graph, 8, 8, false);
  check(graph, 8, 2, false);  // weights are no rows, and the bias follows from both
  check(graph, 3, 8, true);
  check(graph, 8, 8, true, "mse");
  check(graph, 3, 2, false);
  ir::Graph other = graph;
  std::vector<float> weights = normal_values(8);
  for (float& weight : weights) weight *= 8;
  test::set(other, "fc.weight", weights);
  check(other, 8, 8, true);
  check(graph, 8, 8, false);
}

TEST_CASE("float models are the same whatever their formats are") {
  const ir::Graph graph = model();
  ir::Graph quantized = graph, other = graph;
  quantized.node(quantized.find_node("fc")->id)
      .formats.emplace("weight", formats::parse_format("integer(4, 2)"));
  CHECK(passes::same_float_model(graph, quantized));
  test::set(other, "fc.bias", {0.7F, -2.5F});
  CHECK(!passes::same_float_model(graph, other));
}
