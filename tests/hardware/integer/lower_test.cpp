// SPDX-License-Identifier: Apache-2.0
// Each op: lowered, run, and compared with the reference evaluator.
#include <bit>
#include <catch2/catch.hpp>

#include "hardware/integer/interpreter.hpp"
#include "sketch.hpp"

using namespace mase;
using namespace mase::test;
using ir::Value;

TEST_CASE("a linear layer with relu becomes one step whose clamp is the relu") {
  Sketch sketch;
  const auto x = sketch.input({2, 5});
  const auto fc = sketch.linear(x, 3, eight);
  const auto relu = sketch.relu(fc, {{"data_in", "integer(8, 3)"}});
  const ir::Graph graph = sketch.finish(relu);
  const integer::Program program = integer::lower(graph);
  REQUIRE(program.steps.size() == 1);
  CHECK(std::holds_alternative<integer::Linear>(program.steps[0].operation));
  CHECK(program.steps[0].requantise ==
        integer::Requantise{5, 1, formats::Rounding::nearest_even, 0, 127});
  CHECK(program.value(program.outputs[0]).type == integer::FixedType{7, 3, false});
  CHECK(program.value(program.inputs[0]).type == integer::FixedType{8, 4, true});
  check_against_reference(graph, 4);
}

TEST_CASE("a bounded range of shared exponents narrows the sums of a layer") {
  const auto bits = [](const std::string& range) {
    Sketch sketch;
    const std::string blocks = "mxint4(block_size=4" + range + ")";
    const auto x = sketch.input({2, 8}, {{"data_out", "integer(16, 8)"}});
    const test::Formats formats{{"data_in", blocks}, {"weight", "integer(6, 4)"}};
    const ir::Graph graph = sketch.finish(sketch.linear(x, 3, formats, 1, false));
    const auto high = static_cast<std::uint64_t>(integer::lower(graph).steps.back().high);
    return static_cast<int>(std::bit_width(high));
  };
  // Codes of 16 bits at 2^-8 have magnitudes from 2^-8 to 2^7: a bit of a sum for each exponent.
  const int all = bits(""), below = bits(", exponent_max=3");
  CHECK(below == all - (7 - 3));
  CHECK(bits(", exponent_min=-2, exponent_max=3") == below - (8 - 2));
}

TEST_CASE("rows of features stay rows") {
  Sketch sketch;
  const auto x = sketch.input({2, 4, 6});
  check_against_reference(sketch.finish(sketch.linear(x, 3, eight)), 4);
}

TEST_CASE("channels with fraction bits of their own are shifted to the finest, and rounded once") {
  Sketch sketch;
  const auto x = sketch.input({2, 5});
  const auto fc =
      sketch.linear(x, 3,
                    {{"data_in", "integer(8, 4)"},
                     {"weight", "integer(6, 4, granularity=channel, channel_frac_width=[4, 7, 5])"},
                     {"bias", "integer(8, 5)"},
                     {"data_out", "integer(8, 3)"}});
  const ir::Graph graph = sketch.finish(fc);
  const integer::Program program = integer::lower(graph);
  REQUIRE(program.steps.size() == 2);
  // Sums as they are, then one binary point, 4 + 7 bits of fraction, and the result's 3.
  CHECK(program.steps[0].requantise.shift == 0);
  const auto& shift = std::get<integer::ChannelShift>(program.steps[1].operation);
  CHECK(shift.left == std::vector<int>{3, 0, 2});
  CHECK(program.steps[1].frac == 11);
  CHECK(program.steps[1].requantise.shift == 8);
  check_against_reference(graph, 4);
}

TEST_CASE("channels with equal fraction bits need no step of their own") {
  Sketch sketch;
  const auto x = sketch.input({2, 5});
  const auto fc =
      sketch.linear(x, 2,
                    {{"data_in", "integer(8, 4)"},
                     {"weight", "integer(6, 1, granularity=channel, channel_frac_width=[4, 4])"},
                     {"bias", "integer(12, 10)"}});
  const ir::Graph graph = sketch.finish(fc);
  CHECK(integer::lower(graph).steps.size() == 1);
  check_against_reference(graph, 4);
}

TEST_CASE("a bias finer than the accumulator of its channel widens the weights of that channel") {
  Sketch sketch;
  const auto x = sketch.input({2, 5});
  const auto fc =
      sketch.linear(x, 3,
                    {{"data_in", "integer(8, 0)"},
                     {"weight", "integer(6, 1, granularity=channel, channel_frac_width=[2, 9, 5])"},
                     {"bias", "integer(12, 8)"},
                     {"data_out", "integer(10, 3)"}});
  const ir::Graph graph = sketch.finish(fc);
  const integer::Program program = integer::lower(graph);
  const auto& linear = std::get<integer::Linear>(program.steps[0].operation);
  CHECK(linear.weight_type.width > 6);
  check_against_reference(graph, 100);
}
