// SPDX-License-Identifier: Apache-2.0
// Comparisons, logic, and choices by masks that are constant or computed.
#include <catch2/catch.hpp>

#include "hardware/integer/interpreter.hpp"
#include "sketch.hpp"

using namespace mase;
using namespace mase::test;
using ir::NodeId;
using ir::Value;
using ir::ValueInfo;

namespace {

NodeId truth(Sketch& sketch, const std::string& op, const Value& a, const Value& b,
             const Shape& shape) {
  return sketch.call(op, {{"self", a}, {"other", b}}, ValueInfo::tensor(DType::boolean, shape));
}

/// A truth as numbers, which a graph can return.
NodeId numbers(Sketch& sketch, NodeId x) {
  return sketch.call("aten::to.dtype", {{"self", ref(x)}}, sketch.shape(x));
}

const Formats seven{{"data_out", "integer(7, 3)"}};

}  // namespace

TEST_CASE("comparisons with numbers on, between and beyond codes equal the reference") {
  for (const std::string op : {"gt", "ge", "lt", "le", "eq", "ne"})
    for (const std::string in : {"integer(6, 3)", "integer(5, -1, is_signed=false)"})
      for (const double number : {0.0, 1.5, -1.5, 1.53, 300.0, -300.0, 1e30, -1e30}) {
        INFO(op << " " << in << " " << number);
        Sketch sketch;
        const auto x = sketch.input({2, 9, 3}, {{"data_out", in}});
        const auto y = truth(sketch, "aten::" + op + ".Scalar", ref(x), Value(number), {2, 9, 3});
        check_against_reference(sketch.finish(numbers(sketch, y)), 5);
      }
}

TEST_CASE("comparisons of two streams, and of numbers with a stream, equal the reference") {
  for (const std::string op : {"gt", "ge", "lt", "le", "eq", "ne"}) {
    INFO(op);
    Sketch sketch;
    const auto x = sketch.input({2, 4, 3}, {{"data_out", "integer(4, 1)"}});
    const auto y = sketch.input({2, 1, 3}, {{"data_out", "integer(5, 2, is_signed=false)"}});
    const auto p = sketch.constants({0.5F}, {1});
    const auto a = truth(sketch, "aten::" + op + ".Tensor", ref(x), ref(y), {2, 4, 3});
    const auto b = truth(sketch, "aten::" + op + ".Tensor", ref(p), ref(x), {2, 4, 3});
    const auto both = truth(sketch, "aten::logical_and", ref(a), ref(b), {2, 4, 3});
    const auto either = truth(sketch, "aten::logical_or", ref(a), ref(b), {2, 4, 3});
    const auto neither = sketch.call("aten::logical_not", {{"self", ref(either)}},
                                     ValueInfo::tensor(DType::boolean, {2, 4, 3}));
    std::vector<Value> results;
    for (const auto id : {a, b, both, either, neither}) results.push_back(ref(numbers(sketch, id)));
    check_against_reference(sketch.finish(Value::tuple(results)), 4);
  }
}

TEST_CASE("constant masks join computed ones") {
  for (const std::string op :
       {"aten::logical_and", "aten::logical_or", "aten::__and__.Tensor", "aten::bitwise_or.Tensor"})
    for (const bool first : {false, true}) {
      INFO(op << " " << first);
      Sketch sketch;
      const auto x = sketch.input({2, 1, 4}, {{"data_out", "integer(3, 1)"}});
      const auto keys = truth(sketch, "aten::gt.Scalar", ref(x), Value(0.2), {2, 1, 4});
      std::vector<float> causal;
      for (int i = 0; i < 16; ++i) causal.push_back(i % 4 <= i / 4 ? 1.0F : 0.0F);
      const auto seen = sketch.constants(causal, {4, 4});
      const auto both =
          truth(sketch, op, ref(first ? seen : keys), ref(first ? keys : seen), {2, 4, 4});
      check_against_reference(sketch.finish(numbers(sketch, both)), 2);
    }
}

TEST_CASE("a computed mask chooses between a stream and anything") {
  for (const std::string other : {"number", "bound", "constants", "stream"})
    for (const bool turned : {false, true}) {
      INFO(other << " " << turned);
      Sketch sketch;
      const auto x = sketch.input({2, 3, 5, 4}, {{"data_out", "integer(8, 4)"}});
      const auto keys = sketch.input({2, 4}, {{"data_out", "integer(2, 0, is_signed=false)"}});
      const auto row =
          sketch.call("aten::unflatten.int",
                      {{"self", ref(keys)}, {"dim", 1}, {"sizes", list({1, 1, 4})}}, {2, 1, 1, 4});
      const auto mask = truth(sketch, "aten::eq.Scalar", ref(row), Value(0), {2, 1, 1, 4});
      const Value chosen = other == "number"  ? Value(-1.3)
                           : other == "bound" ? Value(-INFINITY)
                           : other == "constants"
                               ? ref(sketch.parameter({5, 4}, 4))
                               : ref(sketch.input({2, 3, 5, 1}, {{"data_out", "integer(9, 5)"}}));
      const auto y = sketch.call("aten::where.self",
                                 {{"condition", ref(mask)},
                                  {"self", turned ? ref(x) : chosen},
                                  {"other", turned ? chosen : ref(x)}},
                                 {2, 3, 5, 4}, seven);
      check_against_reference(sketch.finish(y), 12);
    }
}

TEST_CASE("whole numbers are compared with a number without a format of theirs") {
  const std::vector<std::int64_t> values{-1000000, -4, -3, -2, -1, 0, 1, 2, 6, 7, 8, 1000000};
  const auto expected = [](const std::string& op, double a, double b) {
    if (op == "gt") return a > b;
    if (op == "ge") return a >= b;
    if (op == "lt") return a < b;
    if (op == "le") return a <= b;
    return op == "eq" ? a == b : a != b;
  };
  for (const std::string op : {"gt", "ge", "lt", "le", "eq", "ne"})
    for (const double number : {0.0, 1.0, -3.0, 0.5, 7.0}) {
      INFO(op << " " << number);
      Sketch sketch;
      const auto x = sketch.input({1, 12});
      sketch.graph.node(x).info.dtype = DType::int64;
      const auto y = truth(sketch, "aten::" + op + ".Scalar", ref(x), Value(number), {1, 12});
      const auto evaluator = integer::make_evaluator(sketch.finish(numbers(sketch, y)));
      const ir::Results results = evaluator->run({Array::from<std::int64_t>(values, {1, 12})});
      for (std::size_t i = 0; i < values.size(); ++i)
        CHECK(results.front().second.span<float>()[i] ==
              float(expected(op, double(values[i]), number)));
    }
}

TEST_CASE("a computed mask chooses between constants") {
  for (const bool fills : {false, true}) {
    Sketch sketch;
    const Shape shape{2, 4, 3};
    const auto x = sketch.input(shape, {{"data_out", "integer(6, 3)"}});
    const auto mask = truth(sketch, "aten::gt.Scalar", ref(x), Value(0.5), shape);
    const auto zeros = sketch.call("aten::zeros_like", {{"self", ref(x)}}, shape);
    const auto p = sketch.constants({0.5F, -2.0F, 3.0F}, {3});
    const auto y =
        fills ? sketch.call("aten::masked_fill.Scalar",
                            {{"self", ref(zeros)}, {"mask", ref(mask)}, {"value", Value(-3.5)}},
                            shape, seven)
              : sketch.call("aten::where.ScalarOther",
                            {{"condition", ref(mask)}, {"self", ref(p)}, {"other", Value(1.25)}},
                            shape, seven);
    check_against_reference(sketch.finish(y), 5);
  }
}

TEST_CASE("a constant mask chooses between two streams, and a stream and constants") {
  for (const Shape& shape : {Shape{5, 4}, Shape{4}, Shape{5, 1}})
    for (const bool stream : {false, true}) {
      INFO(shape_text(shape) << " " << stream);
      std::vector<float> ones;
      for (std::int64_t i = 0; i < numel(shape); ++i)
        ones.push_back(static_cast<float>(i * 7 % 3 == 0));
      Sketch sketch;
      const auto x = sketch.input({2, 5, 4}, {{"data_out", "integer(8, 4)"}});
      const auto y = stream ? sketch.input({2, 5, 4}, {{"data_out", "integer(6, 2)"}})
                            : sketch.parameter({4}, 4);
      const auto mask = sketch.constants(ones, shape);
      const auto z = sketch.call("aten::where.self",
                                 {{"condition", ref(mask)}, {"self", ref(x)}, {"other", ref(y)}},
                                 {2, 5, 4}, seven);
      const auto w = sketch.call("aten::where.self",
                                 {{"condition", ref(mask)}, {"self", ref(y)}, {"other", ref(x)}},
                                 {2, 5, 4}, seven);
      check_against_reference(sketch.finish(Value::tuple({ref(z), ref(w)})), 12);
    }
}

TEST_CASE("a mask that passes reshapes stays a truth on grids that have no 1") {
  Sketch sketch;
  const auto x = sketch.input({2, 3, 4}, {{"data_out", "integer(4, 4)"}});
  const auto keys = sketch.input({2, 4}, {{"data_out", "integer(4, 1)"}});
  const auto mask = truth(sketch, "aten::lt.Scalar", ref(keys), Value(0.5), {2, 4});
  const auto row = sketch.call("aten::unsqueeze", {{"self", ref(mask)}, {"dim", Value(1)}},
                               ValueInfo::tensor(DType::boolean, {2, 1, 4}));
  const auto y = sketch.call("aten::masked_fill.Scalar",
                             {{"self", ref(x)}, {"mask", ref(row)}, {"value", Value(-INFINITY)}},
                             {2, 3, 4}, {{"data_out", "integer(4, 4)"}});
  check_against_reference(sketch.finish(y), 1);
}

TEST_CASE("what is no truth, or compares with several numbers, is refused") {
  Sketch sketch;
  const auto x = sketch.input({2, 5}, {{"data_out", "integer(8, 4)"}});
  const auto p = sketch.constants({1, 2, 3, 4, 5}, {5});
  Sketch inverted = sketch, several = sketch;
  CHECK_THROWS_WITH(integer::lower(inverted.finish(
                        inverted.call("aten::logical_not", {{"self", ref(x)}}, Shape{2, 5}))),
                    Catch::Contains("not a truth value"));
  CHECK_THROWS_WITH(
      integer::lower(several.finish(truth(several, "aten::gt.Tensor", ref(x), ref(p), {2, 5}))),
      Catch::Contains("constants that differ"));
}
