// SPDX-License-Identifier: Apache-2.0
// Where streams of element formats have short codes, and what stands between them and other steps.
// Their results are compared with exact arithmetic in random_test.cpp.
#include <algorithm>
#include <catch2/catch.hpp>

#include "hardware/integer/interpreter.hpp"
#include "sketch.hpp"

using namespace mase;
using namespace mase::test;
using integer::Program;

namespace {

const Formats fp8{{"data_in", "fp8_e4m3()"}};

Program lowered(Sketch& sketch, ir::NodeId result) { return integer::lower(sketch.finish(result)); }

std::int64_t decoders(const Program& program) {
  return std::ranges::count_if(program.steps, [](const integer::Step& step) {
    return integer::operation_name(step.operation) == "decode";
  });
}

const integer::StreamValue& named(const Program& program, const std::string& name) {
  const auto found = std::ranges::find(program.values, name, &integer::StreamValue::name);
  REQUIRE(found != program.values.end());
  return *found;
}

}  // namespace

TEST_CASE("an input in fp8_e4m3 has codes of eight bits, and its sum is of their numbers") {
  Sketch sketch;
  const auto x = sketch.input({2, 4}, {{"data_out", "fp8_e4m3()"}});
  const auto sum = sketch.call("aten::add.Tensor", {{"self", ref(x)}, {"other", ref(x)}}, {2, 4});
  const Program program = lowered(sketch, sum);
  const integer::StreamValue& in = program.value(program.inputs[0]);
  CHECK(in.type.width == 8);
  CHECK(in.numbers().width == 19);
  CHECK(in.code->number(in.greatest_code()) == 448 << 9);
  CHECK(in.code->number(in.least_code()) == -(448 << 9));
  CHECK(decoders(program) == 1);  // which both operands share
}

TEST_CASE("short codes pass relu, maxima, places and tables without being decoded") {
  Sketch sketch;
  const auto x = sketch.input({2, 4, 6, 6}, {{"data_out", "fp6_e3m2()"}});
  const auto relu = sketch.relu(x);
  const auto pool = sketch.call("aten::max_pool2d",
                                {{"self", ref(relu)}, {"kernel_size", list({2, 2})}}, {2, 4, 3, 3});
  const auto flat = sketch.call("aten::flatten.using_ints",
                                {{"self", ref(pool)}, {"start_dim", ir::Value(1)}}, {2, 36});
  const auto flipped =
      sketch.call("aten::flip", {{"self", ref(flat)}, {"dims", list({1})}}, {2, 36});
  const auto gelu =
      sketch.call("aten::gelu", {{"self", ref(flipped)}}, {2, 36}, {{"data_out", "fp4_e2m1()"}});
  const std::string name = sketch.graph.node(gelu).name, largest = sketch.graph.node(pool).name;
  const Program program = lowered(sketch, gelu);
  CHECK(decoders(program) == 1);  // of the result
  CHECK(program.value(program.outputs[0]).name == name);
  CHECK(integer::type_text(named(program, largest).type) == "u5.4");
  CHECK(integer::type_text(named(program, name + "_codes").type) == "u3.1");
}

TEST_CASE("a format as short as its numbers keeps codes of its own") {
  Sketch sketch;
  const auto x = sketch.input({2, 8}, {{"data_out", "ternary(threshold=0.5)"}});
  const Program program = lowered(sketch, sketch.relu(x));
  CHECK(integer::type_text(program.value(program.inputs[0]).type) == "s2.0");
  CHECK(program.value(program.inputs[0]).code->mantissa == 0);
}

TEST_CASE("a bound between two levels that no code reaches changes no code") {
  Sketch sketch;
  const auto x = sketch.input({2, 2, 4, 4}, {{"data_out", "integer(8, 0)"}});
  const auto neg = sketch.call("aten::neg", {{"self", ref(x)}}, {2, 2, 4, 4},
                               {{"data_out", "fp8_e4m3()"}});  // up to 128 of 448
  const auto relu = sketch.relu(neg);
  const auto pool = sketch.call("aten::max_pool2d",
                                {{"self", ref(relu)}, {"kernel_size", list({2, 2})}}, {2, 2, 2, 2});
  const std::string name = sketch.graph.node(pool).name;
  const Program program = lowered(sketch, pool);
  CHECK(decoders(program) == 1);
  CHECK(named(program, name + "_codes").type.width == 7);
}
