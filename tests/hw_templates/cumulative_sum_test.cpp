// SPDX-License-Identifier: Apache-2.0
// Running sums: the op's results as torch defines them, and the module against the step.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "hardware/design/step_table.hpp"
#include "hardware/integer/interpreter.hpp"
#include "ir/text.hpp"
#include "support/module_bench.hpp"

namespace mase::rtl_test {
namespace {

constexpr std::int64_t sum_frames = 12;

/// A graph of one running sum over a batch of this frame: codes of 4 fraction bits come in, and
/// leave with 3 of 9 bits, which clamp.
ir::Graph running_sum(const std::string& shape, std::int64_t dim,
                      const std::string& type = "float32") {
  return ir::parse("graph \"g\" {\n  %x : float32[" + shape +
                       "] = placeholder x {data_out=integer(6, 4)}\n  %y : " + type + "[" + shape +
                       "] = call_method cumsum aten::cumsum(self=%x, dim=" + std::to_string(dim) +
                       ") {data_out=integer(9, 3)}\n  %output : none = output output(value=%y)\n}",
                   "test");
}

/// The definition in torch's order, on numbers: dimension `size` has `inner` elements behind it.
std::vector<float> summed(std::span<const float> x, std::int64_t size, std::int64_t inner) {
  std::vector<double> sums(x.begin(), x.end());
  std::vector<float> results;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto place = static_cast<std::int64_t>(i);
    if (place / inner % size > 0) sums[i] += sums[i - static_cast<std::size_t>(inner)];
    const double eighths = std::clamp(std::nearbyint(sums[i] * 8), -256.0, 255.0);
    results.push_back(static_cast<float>(eighths / 8));
  }
  return results;
}

TEST_CASE("running sums along every dimension of a frame are torch's") {
  Random random(71);
  struct Row {
    std::string shape;
    std::int64_t dim, size, inner;
  };
  // Images have their channels last in a stream; a dimension is one step wherever it lies.
  for (const Row& row : {Row{"2, 5", 1, 5, 1}, Row{"2, 3, 4", 1, 3, 4}, Row{"2, 3, 4", -1, 4, 1},
                         Row{"2, 3, 4, 5", 1, 3, 20}, Row{"2, 3, 4, 5", 2, 4, 5},
                         Row{"2, 3, 4, 5", 3, 5, 1}, Row{"2, 1, 4", 1, 1, 4}}) {
    INFO(row.shape << " along " << row.dim);
    const ir::Graph graph = running_sum(row.shape, row.dim);
    const integer::Program program = integer::lower(graph);
    REQUIRE(program.steps.size() == 1);
    CHECK(integer::operation_name(program.steps[0].operation) == "cumulative_sum");
    Array batch(DType::float32, graph.find_node("x")->info.shape);
    for (float& number : batch.mutable_span<float>())
      number = static_cast<float>(between(random, -32, 31)) / 16;
    const Array sums = integer::make_evaluator(graph)->run({batch}).front().second;
    const std::vector<float> expected = summed(batch.span<float>(), row.size, row.inner);
    CHECK(std::vector<float>(sums.span<float>().begin(), sums.span<float>().end()) == expected);
  }
}

TEST_CASE("running sums over the batch, and of fractions that are cut off, are refused") {
  for (const std::int64_t dim : {0, -2})
    CHECK_THROWS_WITH(integer::lower(running_sum("2, 5", dim)), Catch::Contains("the batch"));
  CHECK_THROWS_WITH(integer::lower(running_sum("2, 5", 1, "int64")), Catch::Contains("fractions"));
}

/// A step alone, and the frames that it sums by the definition.
Case cumulative_sum_case(Random& random, std::int64_t rows, std::int64_t size, std::int64_t inner,
                         std::int64_t lanes) {
  const integer::FixedType type{static_cast<int>(between(random, 1, 12)), 0, random.below(2) == 0};
  const integer::FixedType to{static_cast<int>(between(random, 2, 12)), 0, random.below(2) == 0};
  const Shape shape{rows, size, inner};
  integer::Step step;
  step.name = "sum";
  step.inputs = {0};
  step.output = 1;
  step.operation = integer::CumulativeSum{size, inner};
  step.low = type.low() * size;
  step.high = type.high() * size;
  step.requantise = random_requantise(random, to, static_cast<int>(between(random, -1, 3)),
                                      random.below(4) == 0 ? 3 : 1);
  integer::Program program;
  program.values = {{"x", type, shape, shape, {}}, {"y", to, shape, shape, {}}};
  const design::Design design =
      design::lone_step(program, step, {.in_lanes = lanes, .out_lanes = lanes});
  const Port in = random_port(random, lanes, type, sum_frames * rows * size * inner / lanes);
  Port out{lanes, to, {}};
  std::vector<integer::Wide> sums(in.codes.begin(), in.codes.end());
  for (std::int64_t i = 0; i < std::ssize(sums); ++i) {
    if (i / inner % size > 0) sums[integer::at(i)] += sums[integer::at(i - inner)];
    out.codes.push_back(static_cast<std::int64_t>(step.requantise(sums[integer::at(i)])));
  }
  return {design.instances.at(0).module, {in}, {out}, {}};
}

TEST_CASE("running sums in RTL are exact for every number of beats, lanes and positions") {
  Random random(72);
  std::vector<Case> cases;
  for (const std::int64_t rows : {1, 3})
    for (const std::int64_t size : {1, 2, 5})
      for (const auto& [inner, lanes] : {std::pair{1, 1}, {2, 1}, {3, 3}, {6, 2}, {12, 4}, {70, 1}})
        cases.push_back(cumulative_sum_case(random, rows, size, inner, lanes));
  check_cases(cases, sum_frames);
}

}  // namespace
}  // namespace mase::rtl_test
