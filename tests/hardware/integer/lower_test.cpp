// SPDX-License-Identifier: Apache-2.0
// Each op: lowered, run, and compared with the reference evaluator.
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

TEST_CASE("rows of features stay rows") {
  Sketch sketch;
  const auto x = sketch.input({2, 4, 6});
  check_against_reference(sketch.finish(sketch.linear(x, 3, eight)), 4);
}
