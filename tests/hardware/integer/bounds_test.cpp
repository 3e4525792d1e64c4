// SPDX-License-Identifier: Apache-2.0
// Accumulator intervals: attained by inputs chosen against the weights, passed by none.
#include <catch2/catch.hpp>

#include "hardware/integer/interpreter.hpp"
#include "hardware/integer/program/bounds.hpp"
#include "sketch.hpp"

using namespace mase;
using namespace mase::test;
using namespace mase::integer;

namespace {

/// The sum of row `row` for one input, in the plainest way.
Wide sum_of(const Linear& linear, std::int64_t row, const Codes& input) {
  Wide sum = linear.bias.empty() ? 0 : linear.bias[static_cast<std::size_t>(row)];
  for (std::int64_t i = 0; i < linear.inputs; ++i)
    sum += static_cast<Wide>(linear.weight[static_cast<std::size_t>(row * linear.inputs + i)]) *
           input[static_cast<std::size_t>(i)];
  return sum;
}

/// The input that makes row `row` greatest (or least): each code at the end its weight asks for.
Codes worst_input(const Linear& linear, std::int64_t row, const FixedType& type, bool greatest) {
  Codes input;
  for (std::int64_t i = 0; i < linear.inputs; ++i) {
    const bool up =
        (linear.weight[static_cast<std::size_t>(row * linear.inputs + i)] > 0) == greatest;
    input.push_back(static_cast<std::int64_t>(up ? type.high() : type.low()));
  }
  return input;
}

}  // namespace

TEST_CASE("the interval of a layer without bias is attained at both ends") {
  Sketch sketch;
  const auto x = sketch.input({2, 17});
  const Program program = lower(sketch.finish(sketch.linear(x, 6, eight, 1, false)));
  const Step& step = program.steps[0];
  const auto& linear = std::get<Linear>(step.operation);
  const FixedType type = program.value(program.inputs[0]).type;
  Wide low = 0, high = 0;
  for (std::int64_t row = 0; row < linear.outputs; ++row) {
    low = std::min(low, sum_of(linear, row, worst_input(linear, row, type, false)));
    high = std::max(high, sum_of(linear, row, worst_input(linear, row, type, true)));
  }
  CHECK(wide_text(step.low) == wide_text(low));
  CHECK(wide_text(step.high) == wide_text(high));
}

TEST_CASE("no partial sum in any order leaves the interval, bias first or last") {
  Random random(5);
  for (std::uint64_t seed = 1; seed < 6; ++seed) {
    Sketch sketch(seed);
    const auto x = sketch.input({2, 9});
    const Program program = lower(sketch.finish(sketch.linear(x, 4, eight)));
    const Step& step = program.steps[0];
    const auto& linear = std::get<Linear>(step.operation);
    const FixedType type = program.value(program.inputs[0]).type;
    for (int trial = 0; trial < 200; ++trial) {
      const auto row = static_cast<std::int64_t>(random.below(4));
      const Codes input = worst_input(linear, row, type, trial % 2 == 0);
      std::vector<Wide> terms;
      for (std::int64_t i = 0; i < 9; ++i)
        terms.push_back(static_cast<Wide>(linear.weight[static_cast<std::size_t>(row * 9 + i)]) *
                        input[static_cast<std::size_t>(i)]);
      if (!linear.bias.empty()) terms.push_back(linear.bias[static_cast<std::size_t>(row)]);
      Wide partial = 0;
      for (const std::int64_t place : random.permutation(static_cast<std::int64_t>(terms.size()))) {
        partial += terms[static_cast<std::size_t>(place)];
        CHECK((partial >= step.low && partial <= step.high));
      }
    }
  }
}

TEST_CASE("intervals of one row are those worked out by hand") {
  // Weights 3, -2 on codes [-4, 3]: 3 * [-4, 3] + -2 * [-4, 3] = [-12, 9] + [-6, 8].
  const std::vector<std::int64_t> weights{3, -2};
  CHECK(matrix_interval(weights, 2, {}, {-4, 3}) == Interval{-18, 17});
  const std::vector<Wide> bias{5};
  CHECK(matrix_interval(weights, 2, bias, {-4, 3}) == Interval{-18, 22});
  const std::vector<Wide> below{-5};
  CHECK(matrix_interval(weights, 2, below, {-4, 3}) == Interval{-23, 17});
  CHECK(product({-4, 3}, {-2, 5}) == Interval{-20, 15});
  CHECK(hull({1, 2}, {-3, 0}) == Interval{-3, 2});
}

TEST_CASE("a bias finer than input and weight makes the weights finer") {
  Sketch sketch;
  const auto x = sketch.input({2, 3});
  const Formats fine{
      {"data_in", "integer(8, 1)"}, {"weight", "integer(6, 2)"}, {"bias", "integer(8, 7)"}};
  const ir::Graph graph = sketch.finish(sketch.linear(x, 2, fine));
  const Program program = lower(graph);
  CHECK(std::get<Linear>(program.steps[0].operation).weight_type == FixedType{10, 6, true});
  CHECK(program.steps[0].frac == 7);
  check_against_reference(graph, 20);
}
