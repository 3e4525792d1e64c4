// SPDX-License-Identifier: Apache-2.0
// Clamps, arithmetic, tables, shapes and channels against the reference.
#include <catch2/catch.hpp>

#include "hardware/integer/interpreter.hpp"
#include "sketch.hpp"

using namespace mase;
using namespace mase::test;
using ir::NodeId;
using ir::Value;
using ir::ValueInfo;

namespace {

using Index = std::int64_t;

std::vector<ir::Argument> with_self(NodeId x, std::vector<ir::Argument> rest = {}) {
  rest.insert(rest.begin(), {"self", ref(x)});
  return rest;
}

}  // namespace

TEST_CASE("clamps equal the reference on the grid, off it, and before other formats") {
  const std::vector<std::pair<std::string, std::vector<ir::Argument>>> clamps{
      {"aten::relu", {}},
      {"aten::relu6", {}},
      {"aten::hardtanh", {{"min_val", Value(-0.7)}, {"max_val", Value(1.3)}}},
      {"aten::hardtanh", {}},
      {"aten::clamp", {{"min", Value(-2)}, {"max", Value()}}},
      {"aten::clamp_max", {{"max", Value(0.5)}}},
      {"aten::clamp_min", {{"min", Value(-0.25)}}},
      {"aten::clamp_min", {{"min", Value(200.25)}}},
      {"aten::clamp", {{"min", Value(2.0)}, {"max", Value(-1.0)}}},
  };
  for (const auto& [op, args] : clamps)
    for (const std::string in :
         {"integer(8, 4)", "integer_floor(6, -1)", "integer(5, 2, is_signed=false)"})
      for (const std::string out : {"", "integer(6, 2)", "integer_floor(4, 1)", "integer(12, 9)"}) {
        INFO(op << " " << in << " " << out);
        Sketch sketch;
        const auto x = sketch.input({2, 40}, {{"data_out", in}});
        Formats formats;
        if (!out.empty()) formats.push_back({"data_out", out});
        check_against_reference(
            sketch.finish(sketch.call(op, with_self(x, args), {2, 40}, formats)), 12);
      }
}

TEST_CASE("differences of neighbours equal the reference along every dimension of a frame") {
  for (const std::string in : {"integer(8, 4)", "integer(5, 2, is_signed=false)"})
    for (const Index dim : {-1, 1, 2}) {
      INFO(in << " along " << dim);
      Shape shape{2, 3, 4, 5};
      --shape[dim < 0 ? 3 : static_cast<std::size_t>(dim)];
      for (const std::string out : {"", "integer(4, 1)"}) {
        Sketch sketch;
        const auto x = sketch.input({2, 3, 4, 5}, {{"data_out", in}});
        Formats formats;
        if (!out.empty()) formats.push_back({"data_out", out});
        const auto y =
            sketch.call("aten::diff", with_self(x, {{"dim", Value(dim)}}), shape, formats);
        check_against_reference(sketch.finish(y), 12);
      }
    }
}

TEST_CASE("differences of the batch's rows, or of more than neighbours, are refused") {
  const auto lowered = [](std::vector<ir::Argument> args, const Shape& shape) {
    Sketch sketch;
    const auto x = sketch.input({2, 6}, {{"data_out", "integer(8, 4)"}});
    integer::lower(sketch.finish(sketch.call("aten::diff", with_self(x, std::move(args)), shape)));
  };
  CHECK_THROWS_WITH(lowered({{"dim", Value(0)}}, {1, 6}), Catch::Contains("rows of the batch"));
  CHECK_THROWS_WITH(lowered({{"n", Value(2)}}, {2, 4}),
                    Catch::Contains("differences of neighbours"));
}

TEST_CASE("a tensor that is filled, or takes the values of another, equals the reference") {
  for (const std::string out : {"integer(8, 4)", "integer(5, 1)"}) {
    Sketch sketch;
    const auto x = sketch.input({2, 3, 4}, {{"data_out", "integer(8, 4)"}});
    const auto filled =
        sketch.call("aten::fill.Scalar", with_self(x, {{"value", Value(1.5)}}), {2, 3, 4});
    const auto sum = sketch.call("aten::add.Tensor", with_self(x, {{"other", ref(filled)}}),
                                 {2, 3, 4}, {{"data_in", "integer(8, 4)"}});
    const auto row = sketch.call("aten::mean.dim",
                                 with_self(sum, {{"dim", list({1})}, {"keepdim", Value(true)}}),
                                 {2, 1, 4}, {{"data_in", "integer(8, 4)"}, {"data_out", out}});
    const auto y = sketch.call("aten::copy", with_self(x, {{"src", ref(row)}}), {2, 3, 4});
    check_against_reference(sketch.finish(y), 12);
  }
}

TEST_CASE("sums, differences, products and choices of two streams equal the reference") {
  for (const std::string op : {"aten::add.Tensor", "aten::sub.Tensor", "aten::mul.Tensor",
                               "aten::maximum", "aten::minimum"})
    for (const std::string a : {"integer(8, 4)", "integer(6, -2)", "integer(32, 20)"})
      for (const std::string b :
           {"integer(8, 4)", "integer(3, 5, is_signed=false)", "integer(30, 7)"}) {
        INFO(op << " " << a << " " << b);
        Sketch sketch;
        const auto x = sketch.input({2, 3, 4, 4}, {{"data_out", a}});
        const auto y = sketch.input({2, 3, 4, 4}, {{"data_out", b}});
        const auto z = sketch.call(op, {{"self", ref(x)}, {"other", ref(y)}}, {2, 3, 4, 4});
        check_against_reference(sketch.finish(z), 12);
      }
}

TEST_CASE(
    "operands with binary points of their own equal the reference, one stream read twice too") {
  for (const std::string op : {"aten::add.Tensor", "aten::sub.Tensor", "aten::mul.Tensor",
                               "aten::div.Tensor", "aten::maximum", "aten::minimum"})
    for (const bool twice : {false, true}) {
      INFO(op << " " << twice);
      Sketch sketch;
      const auto x = sketch.input({2, 3, 4, 4}, {{"data_out", "integer(12, 9)"}});
      const auto y = twice ? x : sketch.input({2, 3, 4, 4});
      Formats formats{{"data_in", "integer(8, 12)"}, {"data_in_1", "integer(6, 1)"}};
      if (op == "aten::div.Tensor") formats.emplace_back("data_out", "integer(10, 6)");
      const auto z = sketch.call(op, {{"self", ref(x)}, {"other", ref(y)}}, {2, 3, 4, 4}, formats);
      check_against_reference(sketch.finish(z), 12);
    }
}

TEST_CASE("constants for each element of a frame equal the reference") {
  for (const std::string op : {"aten::add.Tensor", "aten::sub.Tensor", "aten::mul.Tensor"})
    for (const Shape& shape : {Shape{3, 4, 2}, Shape{1, 3, 4, 2}, Shape{4, 1}, Shape{2}})
      for (const bool swapped : {false, true}) {
        INFO(op << " " << shape_text(shape));
        Sketch sketch;
        const auto x = sketch.input({2, 3, 4, 2});
        const auto p = sketch.parameter(shape, 3);
        const auto y =
            sketch.call(op, {{"self", ref(swapped ? p : x)}, {"other", ref(swapped ? x : p)}},
                        {2, 3, 4, 2}, {{"data_in", "integer(8, 4)"}});
        check_against_reference(sketch.finish(y), 12);
      }
}

TEST_CASE("a quotient by any positive number equals the reference") {
  for (const double number : {3.0, 0.75, 10.0, 1.5, 4.0, 1024.5})
    for (const std::string out : {"integer(8, 5)", "integer_floor(12, 9)"}) {
      INFO(number << " " << out);
      Sketch sketch;
      const auto x = sketch.input({2, 3, 4, 2}, {{"data_out", "integer(8, 4)"}});
      const auto y = sketch.call("aten::div.Scalar", {{"self", ref(x)}, {"other", Value(number)}},
                                 {2, 3, 4, 2}, {{"data_out", out}});
      check_against_reference(sketch.finish(y), 12);
    }
}

TEST_CASE("a quotient of two streams equals the reference, by zero too") {
  for (const std::string a : {"integer(8, 4)", "integer(6, 5, is_signed=false)"})
    for (const std::string b : {"integer(4, 2)", "integer(3, -1, is_signed=false)"})
      for (const std::string out : {"integer(8, 5)", "integer_floor(12, 9)", "integer(5, -2)",
                                    "integer(6, 2, is_signed=false)"})
        for (const Shape& shape : {Shape{2, 3, 4, 2}, Shape{2, 3, 1, 1}}) {
          INFO(a << " " << b << " " << out << " " << shape_text(shape));
          Sketch sketch;
          const auto x = sketch.input({2, 3, 4, 2}, {{"data_out", a}});
          const auto y = sketch.input(shape, {{"data_out", b}});
          const auto z = sketch.call("aten::div.Tensor", {{"self", ref(x)}, {"other", ref(y)}},
                                     {2, 3, 4, 2}, {{"data_out", out}});
          check_against_reference(sketch.finish(z), 4);
        }
}

TEST_CASE("the larger and the smaller of a stream and a number equal the reference") {
  for (const std::string op : {"aten::maximum", "aten::minimum"})
    for (const std::string out : {"", "integer(6, 2)", "integer_floor(8, 6)"})
      for (const Shape& shape : {Shape{}, Shape{1}, Shape{1, 1, 1}})
        for (const bool swapped : {false, true}) {
          INFO(op << " " << out << " " << shape_text(shape));
          Sketch sketch;
          const auto x = sketch.input({2, 3, 4, 2});
          const auto p = sketch.parameter(shape, 3);
          Formats formats{{"data_in", "integer(8, 4)"}};
          if (!out.empty()) formats.push_back({"data_out", out});
          const auto y =
              sketch.call(op, {{"self", ref(swapped ? p : x)}, {"other", ref(swapped ? x : p)}},
                          {2, 3, 4, 2}, formats);
          check_against_reference(sketch.finish(y), 12);
        }
}

TEST_CASE("a residual sum requantises each operand as its readers ask") {
  Sketch sketch;
  const Formats formats{
      {"data_in", "integer(8, 4)"}, {"weight", "integer(8, 6)"}, {"bias", "integer(8, 5)"}};
  const auto x = sketch.input({2, 8});
  const auto a = sketch.linear(x, 8, formats);
  const auto b = sketch.linear(sketch.relu(a), 8, formats);
  const auto sum = sketch.call("aten::add.Tensor", {{"self", ref(a)}, {"other", ref(b)}}, {2, 8},
                               {{"data_in", "integer(6, 2)"}});
  check_against_reference(sketch.finish(sketch.relu(sum, {{"data_in", "integer(8, 3)"}})), 4);
}

TEST_CASE("one value and two formats that differ in range only share one requantisation") {
  Sketch sketch;
  const auto x = sketch.input({2, 8});
  const auto a = sketch.relu(x, {{"data_in", "integer(8, 2)"}});
  const auto b = sketch.relu(x, {{"data_in", "integer(5, 2)"}});
  const ir::Graph graph = sketch.finish(Value::tuple({ref(a), ref(b)}));
  CHECK(integer::lower(graph).value(0).type == integer::FixedType{8, 2, true});
  check_against_reference(graph, 40);
}

TEST_CASE("constants per channel and scalars equal the reference") {
  for (const std::string op : {"aten::add", "aten::sub", "aten::mul", "aten::rsub"})
    for (const double number : {0.5, -4.0, 0.3, 1.0, 0.0, 7.0}) {
      if (op == "aten::mul" && number == 0.3) continue;
      INFO(op << " " << number);
      Sketch sketch;
      const auto x = sketch.input({2, 3, 4, 2}, {{"data_out", "integer(8, 4)"}});
      const auto y =
          sketch.call(op + ".Scalar", {{"self", ref(x)}, {"other", Value(number)}}, {2, 3, 4, 2});
      check_against_reference(sketch.finish(y), 12);
    }
  for (const std::string op : {"aten::add.Tensor", "aten::sub.Tensor", "aten::mul.Tensor"})
    for (const Shape& shape : {Shape{3, 1, 1}, Shape{1, 3, 1, 1}, Shape{}, Shape{1}})
      for (const bool swapped : {false, true}) {
        INFO(op << " " << shape_text(shape));
        Sketch sketch;
        const auto x = sketch.input({2, 3, 4, 2});
        const auto p = sketch.parameter(shape, 3);
        const auto y =
            sketch.call(op, {{"self", ref(swapped ? p : x)}, {"other", ref(swapped ? x : p)}},
                        {2, 3, 4, 2}, {{"data_in", "integer(8, 4)"}});
        check_against_reference(sketch.finish(y), 12);
      }
}

TEST_CASE("constants that make a stream larger equal the reference") {
  for (const std::string op : {"aten::add.Tensor", "aten::sub.Tensor", "aten::mul.Tensor"})
    for (const bool first : {false, true}) {
      INFO(op << " " << first);
      Sketch sketch;
      const auto x = sketch.input({2, 4, 1}, {{"data_out", "integer(8, 4)"}});
      const auto p = sketch.parameter({4, 6}, 3, {{"data_out", "integer(6, 3)"}});
      const auto y =
          sketch.call(op, {{"self", ref(first ? p : x)}, {"other", ref(first ? x : p)}}, {2, 4, 6});
      check_against_reference(sketch.finish(y), 9);
    }
}

TEST_CASE("division by powers of two moves the binary point") {
  Sketch sketch;
  const auto x = sketch.input({2, 6}, {{"data_out", "integer(8, 4)"}});
  const auto y = sketch.call("aten::div.Scalar", {{"self", ref(x)}, {"other", Value(2.0)}}, {2, 6});
  const auto c = sketch.constants({1, 2, -0.25F, 8, 0.5F, -1}, {6});
  const auto z = sketch.call("aten::div.Tensor", {{"self", ref(y)}, {"other", ref(c)}}, {2, 6});
  check_against_reference(sketch.finish(z), 12);
}

TEST_CASE("batch norms that only scale and shift equal the reference") {
  for (const Shape& shape : {Shape{2, 5}, Shape{2, 5, 7}, Shape{2, 5, 3, 4}}) {
    Sketch sketch;
    const auto x = sketch.input(shape);
    const std::string kind = shape.size() == 4 ? "BatchNorm2d" : "BatchNorm1d";
    const auto y = sketch.layer(
        "batchnorm." + kind, "aten::batch_norm", x,
        {{"training", Value(ir::TrainingFlag{})}, {"eps", Value(0.0)}},
        {{"weight", {5}}, {"bias", {5}}, {"running_mean", {5}}, {"running_var", {5}}}, shape,
        {{"data_in", "integer(8, 4)"},
         {"weight", "integer(8, 6)"},
         {"bias", "integer(8, 5)"},
         {"running_mean", "integer(8, 4)"},
         {"running_var", "integer(8, 4)"}});
    const std::string path = sketch.graph.node(y).target;
    for (float& value : sketch.graph.tensors.at(path + ".running_mean").value.mutable_span<float>())
      value = 0;
    for (float& value : sketch.graph.tensors.at(path + ".running_var").value.mutable_span<float>())
      value = 1;
    check_against_reference(sketch.finish(y), 12);
  }
}

TEST_CASE("tables equal the functions, rounded once") {
  const std::vector<std::pair<std::string, std::vector<ir::Argument>>> functions{
      {"aten::sigmoid", {}},
      {"aten::tanh", {}},
      {"aten::gelu", {}},
      {"aten::gelu", {{"approximate", Value("tanh")}}},
      {"aten::silu", {}},
      {"aten::elu", {{"alpha", Value(0.5)}}},
      {"aten::softplus", {{"beta", Value(2)}}},
      {"aten::hardsigmoid", {}},
      {"aten::hardswish", {}},
      {"aten::leaky_relu", {{"negative_slope", Value(0.125)}}},
      {"aten::leaky_relu", {}},
      {"aten::mish", {}},
      {"aten::selu", {}},
      {"aten::celu", {{"alpha", Value(0.5)}}},
      {"mase::softsign", {}},
      {"aten::hardshrink", {{"lambd", Value(0.25)}}},
      {"aten::softshrink", {{"lambd", Value(0.75)}}},
      {"aten::log_sigmoid", {}},
      {"aten::reciprocal", {}},
      {"aten::square", {}},
      {"aten::pow.Tensor_Scalar", {{"exponent", Value(3)}}},
      {"aten::exp", {}},
      {"aten::erf", {}},
      {"aten::sin", {}},
      {"aten::cos", {}},
      {"aten::tan", {}},
      {"aten::sinh", {}},
      {"aten::cosh", {}},
      {"aten::abs", {}},
      {"aten::sign", {}},
      {"aten::ceil", {}},
      {"aten::floor", {}},
      {"aten::round", {}},
  };
  for (const auto& [op, args] : functions)
    for (const std::string in : {"integer(12, 8)", "integer(11, 6)", "integer(10, 6)",
                                 "integer(8, 3)", "integer_floor(5, 0, is_signed=false)"})
      for (const std::string out : {"integer(8, 6)", "integer_floor(12, 8)"}) {
        INFO(op << " " << in << " " << out);
        Sketch sketch;
        const auto x = sketch.input({2, 300}, {{"data_out", in}});
        const auto y = sketch.call(op, with_self(x, args), {2, 300});
        check_against_reference(sketch.finish(sketch.relu(y, {{"data_in", out}})), 9);
      }
}

TEST_CASE("functions of what is not negative have tables of unsigned codes only") {
  for (const std::string op : {"aten::sqrt", "aten::rsqrt", "aten::log"}) {
    const auto graph = [&](const std::string& in) {
      Sketch sketch;
      const auto y =
          sketch.call(op, with_self(sketch.input({2, 300}, {{"data_out", in}}), {}), {2, 300});
      return sketch.finish(sketch.relu(y, {{"data_in", "integer(9, 5)"}}));
    };
    check_against_reference(graph("integer(10, 6, is_signed=false)"), 9);
    CHECK_THROWS_WITH(integer::lower(graph("integer(10, 6)")),
                      Catch::Contains("is not a number") && Catch::Contains("is_signed = false"));
  }
}

TEST_CASE("slopes for all and for each channel equal the reference at any width") {
  for (const std::string in : {"integer(8, 3)", "integer(16, 9)", "integer(8, 4, is_signed=false)"})
    for (const Index slopes : {1, 4})
      for (const Shape& shape : {Shape{2, 4, 60}, Shape{2, 4}, Shape{2, 4, 5, 6}}) {
        INFO(in << " " << slopes << " slopes, " << shape_text(shape));
        Sketch sketch;
        const auto x = sketch.input(shape);
        check_against_reference(
            sketch.finish(sketch.layer(
                "activation.PReLU", "aten::prelu", x, {}, {{"weight", {slopes}}}, shape,
                {{"data_in", in}, {"weight", "integer(6, 4)"}, {"data_out", "integer(9, 5)"}}, 2)),
            9);
      }
  for (const std::string op : {"aten::abs", "aten::leaky_relu"})
    for (const std::string out : {"", "integer(12, 7)"}) {
      INFO(op << " " << out);
      Sketch sketch;
      const auto x = sketch.input({2, 300}, {{"data_out", "integer(20, 11)"}});
      std::vector<ir::Argument> further;
      if (op == "aten::leaky_relu") further.emplace_back("negative_slope", Value(0.375));
      Formats formats;
      if (!out.empty()) formats.emplace_back("data_out", out);
      check_against_reference(
          sketch.finish(sketch.call(op, with_self(x, further), {2, 300}, formats)), 9);
    }
}

TEST_CASE("exact functions need no format for their results, and rounding no table") {
  for (const std::string op :
       {"aten::abs", "aten::sign", "aten::ceil", "aten::floor", "aten::round"})
    for (const std::string in : {"integer(10, 4)", "integer(4, 6)", "integer(6, 0)",
                                 "integer(5, -2)", "integer(9, 3, is_signed=false)"}) {
      INFO(op << " " << in);
      Sketch sketch;
      const auto x = sketch.input({2, 300}, {{"data_out", in}});
      check_against_reference(sketch.finish(sketch.call(op, with_self(x, {}), {2, 300})), 9);
    }
  for (const std::string op : {"aten::floor", "aten::round"}) {
    Sketch sketch;
    const auto x = sketch.input({2, 300}, {{"data_out", "integer(20, 11)"}});
    check_against_reference(sketch.finish(sketch.call(op, with_self(x, {}), {2, 300})), 9);
  }
}

TEST_CASE("channels are joined and parted as the reference does") {
  Sketch sketch;
  const auto x = sketch.input({2, 6, 3, 2}, {{"data_out", "integer(8, 4)"}});
  ValueInfo parts;
  parts.kind = ValueInfo::Kind::list;
  for (const Index size : {4, 2})
    parts.elements.push_back(ValueInfo::tensor(DType::float32, {2, size, 3, 2}));
  const auto split = sketch.call(
      "aten::split.Tensor", with_self(x, {{"split_size", Value(4)}, {"dim", Value(1)}}), parts);
  const auto a =
      sketch.call("mase::getitem", {{"value", ref(split)}, {"index", Value(0)}}, {2, 4, 3, 2});
  const auto b =
      sketch.call("mase::getitem", {{"value", ref(split)}, {"index", Value(-1)}}, {2, 2, 3, 2});
  const auto half =
      sketch.call("aten::div.Scalar", {{"self", ref(b)}, {"other", Value(4.0)}}, {2, 2, 3, 2});
  const auto joined = sketch.call(
      "aten::cat", {{"tensors", Value::list({ref(half), ref(a), ref(x)})}, {"dim", Value(1)}},
      {2, 12, 3, 2});
  const Value whole = Value::slice(Value(), Value(), Value());
  const auto cut =
      sketch.call("mase::getitem",
                  {{"value", ref(joined)},
                   {"index", Value::tuple({whole, Value::slice(Value(1), Value(-2), Value())})}},
                  {2, 9, 3, 2});
  check_against_reference(
      sketch.finish(Value::dict({{"a", ref(a)}, {"cut", ref(cut)}, {"joined", ref(joined)}})), 12);
}

TEST_CASE("one channel leaves its dimension out") {
  const Value whole = Value::slice(Value(), Value(), Value());
  for (const int index : {0, 2, -1}) {
    Sketch sketch;
    const auto x = sketch.input({2, 4, 3, 5}, {{"data_out", "integer(8, 4)"}});
    const auto item = sketch.call(
        "mase::getitem", {{"value", ref(x)}, {"index", Value::tuple({whole, Value(index), whole})}},
        {2, 3, 5});
    const auto selected = sketch.call(
        "aten::select", {{"self", ref(x)}, {"dim", Value(1)}, {"index", Value(index)}}, {2, 3, 5});
    const auto rows = sketch.linear(
        selected, 4,
        {{"data_in", "integer(6, 3)"}, {"weight", "integer(6, 4)"}, {"bias", "integer(6, 3)"}});
    check_against_reference(sketch.finish(Value::tuple({ref(item), ref(selected), ref(rows)})), 12);
  }
}

TEST_CASE("formats behind a cat and a chunk act on each input") {
  Sketch sketch;
  const auto x = sketch.input({2, 8}, {{"data_out", "integer(10, 6)"}});
  const auto y = sketch.input({2, 4}, {{"data_out", "integer(8, 1)"}});
  const auto joined = sketch.call(
      "aten::cat", {{"tensors", Value::list({ref(x), ref(y)})}, {"dim", Value(-1)}}, {2, 12});
  const auto z = sketch.relu(joined, {{"data_in", "integer(6, 3)"}});
  check_against_reference(sketch.finish(z), 12);
  Sketch other;
  const auto w = other.input({2, 8}, {{"data_out", "integer(10, 6)"}});
  ValueInfo halves;
  halves.kind = ValueInfo::Kind::list;
  for (int i = 0; i < 2; ++i) halves.elements.push_back(ValueInfo::tensor(DType::float32, {2, 4}));
  const auto chunk =
      other.call("aten::chunk", with_self(w, {{"chunks", Value(2)}, {"dim", Value(1)}}), halves);
  std::vector<Value> results;
  for (int i = 0; i < 2; ++i) {
    const auto part =
        other.call("mase::getitem", {{"value", ref(chunk)}, {"index", Value(i)}}, {2, 4});
    results.push_back(
        ref(other.relu(part, {{"data_in", i == 0 ? "integer(6, 3)" : "integer(5, 2)"}})));
  }
  check_against_reference(other.finish(Value::tuple(results)), 12);
}

TEST_CASE("reshapes and permutations cost no step") {
  Sketch sketch;
  const auto x = sketch.input({2, 4, 3, 2}, {{"data_out", "integer(8, 4)"}});
  const auto y =
      sketch.call("aten::permute", with_self(x, {{"dims", list({0, 2, 3, 1})}}), {2, 3, 2, 4});
  const auto z =
      sketch.call("aten::flatten.using_ints",
                  with_self(y, {{"start_dim", Value(1)}, {"end_dim", Value(2)}}), {2, 6, 4});
  const auto fc = sketch.linear(z, 3, {{"weight", "integer(8, 6)"}, {"bias", "integer(8, 5)"}});
  const auto t = sketch.call("aten::transpose.int",
                             with_self(fc, {{"dim0", Value(1)}, {"dim1", Value(2)}}), {2, 3, 6});
  const auto v = sketch.call("aten::view", with_self(t, {{"size", list({2, -1})}}), {2, 18});
  const auto out = sketch.linear(
      v, 2, {{"data_in", "integer(7, 2)"}, {"weight", "integer(8, 6)"}, {"bias", "integer(8, 5)"}});
  const ir::Graph graph = sketch.finish(Value::tuple({ref(out), ref(t)}));
  CHECK(integer::lower(graph).steps.size() == 3);  // two layers and the cast between them
  check_against_reference(graph, 12);
}

TEST_CASE("an input that is returned reshaped keeps its own shape") {
  Sketch sketch;
  const auto x = sketch.input({2, 4, 3, 2}, {{"data_out", "integer(8, 4)"}});
  const auto y =
      sketch.call("aten::flatten.using_ints", with_self(x, {{"start_dim", Value(1)}}), {2, 24});
  const ir::Graph graph = sketch.finish(Value::tuple({ref(y), ref(x), ref(y)}));
  CHECK(integer::lower(graph).value(0).torch_shape == Shape{4, 3, 2});
  check_against_reference(graph, 12);
}

TEST_CASE("constant masks choose between a stream and a number") {
  const Value low(-INFINITY);
  for (const Shape& shape : {Shape{5, 5}, Shape{1, 1, 5, 5}, Shape{5, 1}, Shape{5}, Shape{3, 1, 1}})
    for (const Value& value : {low, Value(2.5), Value(-0.3), Value(0)}) {
      INFO(shape_text(shape) << " " << value.as_double());
      std::vector<float> ones;
      for (std::int64_t i = 0; i < numel(shape); ++i)
        ones.push_back(static_cast<float>(i * 7 % 3 == 0));
      Sketch sketch;
      const auto x = sketch.input({2, 3, 5, 5}, {{"data_out", "integer(8, 4)"}});
      const auto mask = sketch.constants(ones, shape);
      const Formats grid{{"data_out", "integer(7, 3)"}};
      const Shape out{2, 3, 5, 5};
      const auto filled =
          sketch.call("aten::masked_fill.Scalar",
                      {{"self", ref(x)}, {"mask", ref(mask)}, {"value", value}}, out, grid);
      const auto kept =
          sketch.call("aten::where.ScalarOther",
                      {{"condition", ref(mask)}, {"self", ref(x)}, {"other", value}}, out, grid);
      const auto scalar = sketch.constants({static_cast<float>(value.as_double())}, {});
      const auto left = sketch.call(
          "aten::where.self", {{"condition", ref(mask)}, {"self", ref(scalar)}, {"other", ref(x)}},
          out, grid);
      check_against_reference(sketch.finish(Value::tuple({ref(filled), ref(kept), ref(left)})), 12);
    }
}

TEST_CASE("a constant tensor that is the same everywhere is a number to choose") {
  Sketch sketch;
  const auto x = sketch.input({2, 3}, {{"data_out", "integer(8, 4)"}});
  const auto mask = sketch.constants({1, 0, 1}, {3});
  const auto choice = [&](const std::vector<float>& values, const Shape& shape, const Shape& out) {
    Sketch copy = sketch;
    const auto other = copy.constants(values, shape);
    return copy.finish(copy.call(
        "aten::where.self", {{"condition", ref(mask)}, {"self", ref(x)}, {"other", ref(other)}},
        out, {{"data_out", "integer(7, 3)"}}));
  };
  check_against_reference(choice({-4, -4, -4}, {1, 3}, {2, 3}), 12);
  check_against_reference(choice({-4, -4, 1}, {1, 3}, {2, 3}), 12);
  CHECK_THROWS_WITH(integer::lower(choice({2, 2}, {2, 1, 1}, {2, 2, 3})),
                    Catch::Contains("makes the stream larger"));
}

TEST_CASE("masks without a datapath say what has one") {
  Sketch sketch;
  const auto x = sketch.input({2, 5}, {{"data_out", "integer(8, 4)"}});
  const auto y = sketch.call("aten::masked_fill.Scalar",
                             {{"self", ref(x)}, {"mask", ref(x)}, {"value", Value(0)}}, {2, 5});
  const ir::Graph graph = sketch.finish(y);
  CHECK_THROWS_WITH(integer::lower(graph), Catch::Contains("pass fold_constants"));
  Sketch without;
  const auto z = without.input({2, 5}, {{"data_out", "integer(8, 4)"}});
  const auto mask = without.constants({1, 0, 0, 1, 0}, {5});
  const auto w =
      without.call("aten::masked_fill.Scalar",
                   {{"self", ref(z)}, {"mask", ref(mask)}, {"value", Value(-INFINITY)}}, {2, 5});
  CHECK_THROWS_WITH(integer::lower(without.finish(w)),
                    Catch::Contains("-inf is not a code of its input"));
}

TEST_CASE("factors that saturate the result may be of any size") {
  for (const double factor : {-3.4028234663852886e38, 1e30, -1e9, 65.0, 1e-30})
    for (const std::string grid :
         {"integer(8, 4)", "integer(4, -2)", "integer(12, 9, is_signed=false)"}) {
      INFO(factor << " " << grid);
      Sketch sketch;
      const auto x = sketch.input({2, 9}, {{"data_out", "integer(6, 3)"}});
      const auto y = sketch.call("aten::mul.Scalar", {{"self", ref(x)}, {"other", Value(factor)}},
                                 {2, 9}, {{"data_out", grid}});
      check_against_reference(sketch.finish(y), 6);
    }
}

TEST_CASE("numbers beside scaled codes are not in their steps") {
  const std::vector<std::pair<std::string, double>> calls{
      {"aten::add.Scalar", 3}, {"aten::sub.Scalar", 1.75}, {"aten::add.Scalar", -0.3}};
  for (const std::string scaling : {"aten::mul.Scalar", "aten::div.Scalar"})
    for (const auto& [op, number] : calls) {
      INFO(scaling << ", " << op << " " << number);
      Sketch sketch;
      const auto x = sketch.input({2, 6}, {{"data_out", "integer(8, 4)"}});
      const auto y = sketch.call(scaling, {{"self", ref(x)}, {"other", Value(0.7)}}, {2, 6});
      const auto z = sketch.call(op, {{"self", ref(y)}, {"other", Value(number)}}, {2, 6});
      check_against_reference(sketch.finish(sketch.relu(z, {{"data_in", "integer(9, 3)"}})), 8);
    }
}

TEST_CASE("scaled codes are no integers of a narrow type") {
  Sketch sketch;
  const auto x = sketch.input({2, 6}, {{"data_out", "integer(8, 0)"}});
  const auto y = sketch.call("aten::mul.Scalar", {{"self", ref(x)}, {"other", Value(0.7)}}, {2, 6});
  const auto z =
      sketch.call("aten::to.dtype", {{"self", ref(y)}}, ir::ValueInfo::tensor(DType::int8, {2, 6}));
  CHECK_THROWS_WITH(integer::lower(sketch.finish(z)),
                    Catch::Contains("not known to be whole numbers from -128 to 127"));
}
