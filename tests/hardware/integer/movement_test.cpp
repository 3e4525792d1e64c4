// SPDX-License-Identifier: Apache-2.0
// Ops that give elements other places: by themselves, in front of layers that read another order,
// and what they cost.
#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <limits>

#include "hardware/integer/interpreter.hpp"
#include "sketch.hpp"

using namespace mase;
using namespace mase::test;
using ir::NodeId;
using ir::Value;

namespace {

using Index = std::int64_t;
const Formats grid{{"data_out", "integer(8, 4)"}};
const Formats layer_formats{
    {"data_in", "integer(8, 4)"}, {"weight", "integer(6, 4)"}, {"bias", "integer(6, 3)"}};

struct Movement {
  std::string op;
  Shape in;
  std::vector<ir::Argument> args;
  Shape out;
  int steps = 1;  ///< that move something; a permutation has none
};

std::vector<Movement> movements() {
  const auto text = [](const char* word) { return Value(std::string(word)); };
  const Shape image{2, 4, 6, 5};
  return {
      {"aten::pad", image, {{"pad", list({1, 2, 3, 0})}}, {2, 4, 9, 8}, 2},
      {"aten::pad", image, {{"pad", list({1, 2, 3, 0, 0, 0, 0, 0})}}, {2, 4, 9, 8}, 2},
      {"aten::pad", image, {{"pad", list({1, -2})}, {"value", Value(0.5)}}, {2, 4, 6, 4}, 2},
      {"aten::pad", image, {{"pad", list({-1, -2, -1, 0})}}, {2, 4, 5, 2}, 2},
      {"aten::pad", image, {{"pad", list({2, 1, 1, 2})}, {"mode", text("reflect")}}, {2, 4, 9, 8}},
      {"aten::pad", image, {{"pad", list({2, 1})}, {"mode", text("replicate")}}, {2, 4, 6, 8}},
      {"aten::pad", image, {{"pad", list({2, 1, 3, 0})}, {"mode", text("circular")}}, {2, 4, 9, 8}},
      {"aten::pad", {2, 7}, {{"pad", list({3, 1})}, {"value", Value(-2)}}, {2, 11}},
      {"aten::flip", image, {{"dims", list({3})}}, image, 0},
      {"aten::flip", image, {{"dims", list({1, 2})}}, image, 0},
      {"aten::roll", image, {{"shifts", list({-2})}, {"dims", list({2})}}, image, 0},
      {"aten::roll", {2, 9}, {{"shifts", list({4})}, {"dims", list({1})}}, {2, 9}, 0},
      {"aten::repeat", image, {{"repeats", list({1, 2, 1, 3})}}, {2, 8, 6, 15}},
      {"aten::expand", {2, 4, 1, 1}, {{"size", list({-1, -1, 3, 5})}}, {2, 4, 3, 5}},
      {"aten::upsample_nearest2d", image, {}, {2, 4, 12, 15}},
      {"aten::upsample_nearest2d", image, {}, {2, 4, 9, 3}},
      {"aten::pixel_shuffle", image, {{"upscale_factor", Value(2)}}, {2, 1, 12, 10}, 0},
      {"aten::pixel_unshuffle", {2, 3, 6, 4}, {{"downscale_factor", Value(2)}}, {2, 12, 3, 2}, 0},
      {"aten::channel_shuffle", image, {{"groups", Value(2)}}, image, 0},
      {"aten::slice.Tensor",
       image,
       {{"dim", Value(2)}, {"start", Value(1)}, {"end", Value(5)}, {"step", Value(2)}},
       {2, 4, 2, 5}},
      {"aten::im2col",
       image,
       {{"kernel_size", list({3, 2})},
        {"dilation", list({1, 2})},
        {"padding", list({1, 0})},
        {"stride", list({2, 1})}},
       {2, 24, 9}},
      {"aten::select.int", image, {{"dim", Value(3)}, {"index", Value(-2)}}, {2, 4, 6}},
  };
}

std::int64_t moves(const integer::Program& program) {
  return std::ranges::count_if(
      program.steps, [](const integer::Step& step) { return integer::only_moves(step.operation); });
}

ir::NodeId moved(Sketch& sketch, const Movement& movement) {
  std::vector<ir::Argument> args = movement.args;
  const bool upsamples = movement.op.starts_with("aten::upsample");
  const auto x = sketch.input(movement.in, grid);
  args.insert(args.begin(), {upsamples ? "input" : "self", ref(x)});
  return sketch.call(movement.op, args, movement.out);
}

}  // namespace

TEST_CASE("moved elements equal the reference, and permutations move nothing") {
  for (const Movement& movement : movements()) {
    INFO(movement.op << " " << shape_text(movement.in) << " to " << shape_text(movement.out));
    Sketch sketch;
    const ir::Graph graph = sketch.finish(moved(sketch, movement));
    check_against_reference(graph, 12);
    CHECK(moves(integer::lower(graph)) == movement.steps);
  }
}

TEST_CASE("elements chosen by constant tensors and along several dimensions equal the reference") {
  const Value whole = Value::slice(Value(), Value(), Value());
  const auto every_second = [](int first) { return Value::slice(Value(first), Value(), Value(2)); };
  const auto chosen = [&](const std::function<Value(const Value&)>& index, const Shape& result) {
    Sketch sketch;
    const auto x = sketch.input({2, 4, 6, 5}, grid);
    const auto places = sketch.indices({3, 0, -2});
    const auto y = sketch.call("mase::getitem", {{"value", ref(x)}, {"index", index(ref(places))}},
                               result, {{"data_out", "integer(6, 3)"}});
    check_against_reference(sketch.finish(y), 12);
  };
  chosen([&](const Value& places) { return Value::tuple({whole, places}); }, {2, 3, 6, 5});
  chosen(
      [&](const Value& places) {
        return Value::tuple({whole, whole, whole, places});
      },
      {2, 4, 6, 3});
  chosen(
      [&](const Value&) {
        return Value::tuple({whole, every_second(1), every_second(0)});
      },
      {2, 2, 3, 5});
  chosen(
      [&](const Value& places) {
        return Value::tuple({whole, places, every_second(2)});
      },
      {2, 3, 2, 5});
  chosen([&](const Value&) { return Value::tuple({whole, Value(1), whole, Value(-1)}); }, {2, 6});
}

TEST_CASE("bilinear upsampling by powers of two equals the reference, in front of layers too") {
  const auto bilinear = [](const Shape& out, std::vector<ir::Argument> args = {}) {
    Sketch sketch;
    args.insert(args.begin(), {"input", ref(sketch.input({2, 3, 4, 5}, grid))});
    const auto y = sketch.call("aten::upsample_bilinear2d", args, out,
                               {{"data_in", "integer(6, 3)"}, {"data_out", "integer(7, 4)"}});
    const auto z = sketch.layer("conv.Conv2d", "aten::conv2d", y, {{"padding", list({1, 1})}},
                                {{"weight", {2, 3, 3, 3}}, {"bias", {2}}}, {2, 2, out[2], out[3]},
                                layer_formats);
    return sketch.finish(z);
  };
  for (const Shape& out : {Shape{2, 3, 8, 10}, {2, 3, 16, 10}, {2, 3, 4, 40}, {2, 3, 4, 5}}) {
    INFO(shape_text(out));
    check_against_reference(bilinear(out), 8);
  }
  for (const Shape& out : {Shape{2, 3, 12, 10}, {2, 3, 8, 7}})
    CHECK_THROWS_WITH(integer::lower(bilinear(out)), Catch::Contains("power of two"));
  CHECK_THROWS_WITH(integer::lower(bilinear({2, 3, 8, 10}, {{"align_corners", Value(true)}})),
                    Catch::Contains("align_corners = False"));
}

TEST_CASE("convolutions read what was moved in their own order") {
  for (const Movement& movement : movements()) {
    if (movement.out.size() != 4 || movement.out[2] < 3 || movement.out[3] < 3) continue;
    INFO(movement.op << " " << shape_text(movement.in) << " to " << shape_text(movement.out));
    Sketch sketch;
    const auto y = moved(sketch, movement);
    const auto z = sketch.layer("conv.Conv2d", "aten::conv2d", y, {{"padding", list({1, 1})}},
                                {{"weight", {3, movement.out[1], 3, 3}}, {"bias", {3}}},
                                {2, 3, movement.out[2], movement.out[3]}, layer_formats);
    check_against_reference(sketch.finish(z), 6);
  }
}

TEST_CASE("a cast behind what only moves merges into the step in front of it") {
  const auto behind = [](const Movement& movement) {
    Sketch sketch;
    const auto x = sketch.layer("conv.Conv2d", "aten::conv2d", sketch.input({2, 3, 6, 5}), {},
                                {{"weight", {4, 3, 1, 1}}}, {2, 4, 6, 5}, layer_formats);
    std::vector<ir::Argument> args = movement.args;
    args.insert(args.begin(), {movement.op.starts_with("aten::up") ? "input" : "self", ref(x)});
    const auto y = sketch.call(movement.op, args, movement.out, grid);
    const ir::Graph graph = sketch.finish(sketch.relu(y));
    check_against_reference(graph, 12);
    const integer::Program program = integer::lower(graph);
    const auto casts = std::ranges::count_if(program.steps, [](const integer::Step& step) {
      return std::holds_alternative<integer::Cast>(step.operation);
    });
    CHECK(casts == 0);
    CHECK(moves(program) == movement.steps);
    CHECK(program.value(program.steps[0].output).type == integer::FixedType{7, 4, false});
  };
  behind({"aten::upsample_nearest2d", {}, {}, {2, 4, 12, 10}});
  behind({"aten::slice.Tensor",
          {},
          {{"dim", Value(2)}, {"start", Value(1)}, {"end", Value(5)}},
          {2, 4, 4, 5}});
  behind({"aten::im2col",
          {},
          {{"kernel_size", list({3, 2})}, {"padding", list({1, 0})}},
          {2, 24, 24}});
}

TEST_CASE("padding with a constant keeps no frame") {
  const auto behind_pixels = [](std::vector<Index> pads, const Shape& out, int steps) {
    Sketch sketch;
    const auto x = sketch.layer("conv.Conv2d", "aten::conv2d", sketch.input({2, 3, 4, 5}), {},
                                {{"weight", {4, 3, 1, 1}}}, {2, 4, 4, 5}, layer_formats);
    const ir::Graph graph = sketch.finish(
        sketch.call("aten::constant_pad_nd",
                    {{"self", ref(x)}, {"pad", list(pads)}, {"value", Value(-1.5)}}, out, grid));
    check_against_reference(graph, 12);
    const integer::Program program = integer::lower(graph);
    CHECK(static_cast<int>(program.steps.size()) == 1 + steps);
    for (const integer::Step& step : program.steps) {
      CHECK_FALSE(std::holds_alternative<integer::Gather>(step.operation));
      if (const auto* insert = std::get_if<integer::Insert>(&step.operation))
        CHECK(insert->codes == integer::Codes(insert->codes.size(), -24));
    }
  };
  behind_pixels({1, 2, 3, 0}, {2, 4, 7, 8}, 2);
  behind_pixels({0, 1}, {2, 4, 4, 6}, 1);
  behind_pixels({0, 0, 1, 1}, {2, 4, 6, 5}, 1);
  behind_pixels({-1, 2, 2, -2}, {2, 4, 4, 6}, 4);
  behind_pixels({1, 0, 0, 1, 1, 3}, {2, 8, 5, 6}, 3);
  behind_pixels({0, 0}, {2, 4, 4, 5}, 0);
}

TEST_CASE("zeros in front of a convolution are its padding only where its input has a zero") {
  for (const std::string format : {"binary()", "fp4_e2m1()", "integer(6, 3)"}) {
    INFO(format);
    Sketch sketch;
    const Shape padded{2, 2, 6, 6};
    const auto zeros = sketch.call("aten::constant_pad_nd",
                                   {{"self", ref(sketch.input({2, 2, 4, 4}))},
                                    {"pad", list({1, 1, 1, 1})},
                                    {"value", Value(0)}},
                                   padded);
    const Formats formats{
        {"data_in", format}, {"weight", "integer(6, 4)"}, {"bias", "integer(8, 5)"}};
    const ir::Graph graph = sketch.finish(sketch.layer("conv.Conv2d", "aten::conv2d", zeros, {},
                                                       {{"weight", {3, 2, 3, 3}}, {"bias", {3}}},
                                                       {2, 3, 4, 4}, formats));
    check_against_reference(graph, 2);
  }
}

TEST_CASE("padding that leaves nothing or another shape is refused") {
  const auto padded = [](std::vector<Index> pads, const Shape& out) {
    Sketch sketch;
    const auto x = sketch.input({2, 4, 6}, grid);
    integer::lower(
        sketch.finish(sketch.call("aten::pad", {{"self", ref(x)}, {"pad", list(pads)}}, out)));
  };
  CHECK_THROWS_WITH(padded({-4, -2}, {2, 4, 0}), Catch::Contains("leaves nothing"));
  CHECK_THROWS_WITH(padded({1, 0}, {2, 4, 6}),
                    Catch::Contains("does not give a result of shape [2, 4, 6]"));
}

TEST_CASE("a gather that is alike for all pixels keeps a pixel, not a frame") {
  Sketch sketch;
  const auto x = sketch.input({2, 6, 5, 4}, grid);
  const auto y =
      sketch.call("aten::channel_shuffle", {{"self", ref(x)}, {"groups", Value(2)}}, {2, 6, 5, 4});
  const auto z =
      sketch.layer("conv.Conv2d", "aten::conv2d", y, {}, {{"weight", {3, 6, 1, 1}}, {"bias", {3}}},
                   {2, 3, 5, 4}, layer_formats);
  const integer::Program program = integer::lower(sketch.finish(z));
  const auto& gather = std::get<integer::Gather>(program.steps.at(0).operation);
  CHECK(gather.period == 6);
  CHECK(gather.places == std::vector<std::int64_t>{0, 3, 1, 4, 2, 5});
}

TEST_CASE("linear layers read rows of an image that is streamed with its channels innermost") {
  Sketch sketch;
  const auto x = sketch.input({2, 4, 6, 6});
  const auto pool =
      sketch.call("aten::max_pool2d", {{"self", ref(x)}, {"kernel_size", Value(2)}}, {2, 4, 3, 3});
  check_against_reference(sketch.finish(sketch.linear(pool, 2, layer_formats)), 6);
}

TEST_CASE("joins along any dimension equal the reference") {
  for (const std::int64_t dim : {1, 2, 3}) {
    INFO("dim " << dim);
    Shape other{2, 3, 4, 5}, out = other;
    other[static_cast<std::size_t>(dim)] = 2;
    out[static_cast<std::size_t>(dim)] += 2;
    Sketch sketch;
    const auto a = sketch.input({2, 3, 4, 5}, grid), b = sketch.input(other, grid);
    const auto y = sketch.call(
        "aten::cat", {{"tensors", Value::list({ref(a), ref(b)})}, {"dim", Value(dim)}}, out);
    const ir::Graph graph = sketch.finish(y);
    check_against_reference(graph, 12);
    CHECK(moves(integer::lower(graph)) == 1);
  }
}

/// A cat of [2, 3, 4, 5] and constants, 's' and 'c' in the order of `what`.
ir::Graph with_constants(const std::string& what, std::int64_t dim, const Formats& formats) {
  Sketch sketch(31);
  Shape out{2, 3, 4, 5};
  std::int64_t& size = out[static_cast<std::size_t>(dim)];
  size = 0;
  Value::List items;
  for (const char piece : what) {
    Shape shape{piece == 's' ? 2 : 1, 3, 4, 5};
    if (piece == 'c') shape[static_cast<std::size_t>(dim)] = 2;
    size += shape[static_cast<std::size_t>(dim)];
    const auto made = piece == 's' ? sketch.input(shape, grid) : sketch.parameter(shape, 3);
    items.push_back(ref(made));
  }
  return sketch.finish(sketch.call(
      "aten::cat", {{"tensors", Value::list(items)}, {"dim", Value(dim)}}, out, formats));
}

TEST_CASE("constants stand around the rows of what they are joined with") {
  for (const std::string what : {"cs", "sc", "csc", "ccscc", "csscs", "scs"})
    for (const std::int64_t dim : {1, 2, 3}) {
      INFO(what << " along dim " << dim);
      const ir::Graph graph = with_constants(what, dim, {{"data_out", "integer(7, 3)"}});
      check_against_reference(graph, 12);
      const integer::Program program = integer::lower(graph);
      CHECK(std::ranges::none_of(program.steps, [](const integer::Step& step) {
        return std::holds_alternative<integer::Gather>(step.operation);
      }));
    }
}

TEST_CASE("constants without a format are joined as they are") {
  Sketch sketch;
  const auto x = sketch.input({2, 3}, grid);
  const auto c = sketch.constants({0.375f, -17}, {1, 2});
  const auto y = sketch.call(
      "aten::cat", {{"tensors", Value::list({ref(c), ref(x)})}, {"dim", Value(1)}}, {2, 5});
  check_against_reference(sketch.finish(y), 12);
}

TEST_CASE("rows that are alike have their constants once") {
  Sketch sketch;
  const auto x = sketch.input({2, 4, 5}, grid);
  const auto c = sketch.constants({1, 1, 1, 1}, {1, 4, 1});
  const auto y = sketch.call(
      "aten::cat", {{"tensors", Value::list({ref(c), ref(x)})}, {"dim", Value(2)}}, {2, 4, 6});
  const ir::Graph graph = sketch.finish(y);
  const integer::Program program = integer::lower(graph);
  CHECK(std::get<integer::Insert>(program.steps.at(0).operation).codes.size() == 1);
  check_against_reference(graph, 12);
}

TEST_CASE("a constant that is repeated for the batch is a class token") {
  Sketch sketch;
  const auto x = sketch.input({2, 4, 6}, grid);
  const auto token = sketch.call(
      "aten::expand", {{"self", ref(sketch.parameter({1, 1, 6}, 2))}, {"size", list({2, -1, -1})}},
      {2, 1, 6});
  const auto y =
      sketch.call("aten::cat", {{"tensors", Value::list({ref(token), ref(x)})}, {"dim", Value(1)}},
                  {2, 5, 6}, {{"data_out", "integer(8, 4)"}});
  check_against_reference(sketch.finish(y), 12);
}

TEST_CASE("heads are taken from a matrix whose first dimension they become") {
  const Value whole = Value::slice(Value(), Value(), Value());
  for (const std::int64_t which : {0, 1, 2}) {
    Sketch sketch;
    const auto x = sketch.input({2, 5, 3, 4, 6}, grid);
    const auto turned = sketch.call(
        "aten::permute", {{"self", ref(x)}, {"dims", list({2, 0, 3, 1, 4})}}, {3, 2, 4, 5, 6});
    const auto one = sketch.call("mase::getitem",
                                 {{"value", ref(turned)}, {"index", Value::tuple({Value(which)})}},
                                 {2, 4, 5, 6});
    const auto row = sketch.call(
        "mase::getitem",
        {{"value", ref(turned)}, {"index", Value::tuple({Value(0), whole, Value(1)})}}, {2, 5, 6});
    const auto back = sketch.call("aten::transpose.int",
                                  {{"self", ref(turned)}, {"dim0", Value(1)}, {"dim1", Value(0)}},
                                  {2, 3, 4, 5, 6});
    check_against_reference(sketch.finish(Value::tuple({ref(one), ref(row), ref(back)})), 12);
  }
}

TEST_CASE("an index adds dimensions of 1") {
  const Value whole = Value::slice(Value(), Value(), Value());
  Sketch sketch;
  const auto x = sketch.input({2, 5, 3}, grid);
  const auto y = sketch.call(
      "mase::getitem",
      {{"value", ref(x)}, {"index", Value::tuple({whole, Value(), Value(-1), Value(), whole})}},
      {2, 1, 1, 3});
  check_against_reference(sketch.finish(y), 12);
}

TEST_CASE("stacked tensors and those taken apart equal the reference") {
  for (const std::int64_t dim : {1, 2, 3}) {
    INFO("dim " << dim);
    Shape out{2, 3, 4};
    out.insert(out.begin() + dim, 2);
    Sketch sketch;
    const auto a = sketch.input({2, 3, 4}, grid), b = sketch.input({2, 3, 4}, grid);
    const auto y = sketch.call(
        "aten::stack", {{"tensors", Value::list({ref(a), ref(b)})}, {"dim", Value(dim)}}, out);
    check_against_reference(sketch.finish(y), 12);
  }
}

TEST_CASE("operands are stretched along dimensions of 1 and brought to one order") {
  for (const std::string op : {"aten::mul.Tensor", "aten::add.Tensor", "aten::maximum"})
    for (const Shape& small : {Shape{2, 4, 1, 1}, Shape{2, 1, 6, 5}, Shape{2, 4, 6, 1}})
      for (const bool swapped : {false, true}) {
        INFO(op << " " << shape_text(small) << " " << swapped);
        Sketch sketch;
        const auto a = sketch.input({2, 4, 6, 5}, grid), b = sketch.input(small, grid);
        const auto y = sketch.call(
            op, {{"self", ref(swapped ? b : a)}, {"other", ref(swapped ? a : b)}}, {2, 4, 6, 5});
        check_against_reference(sketch.finish(y), 12);
      }
  Sketch sketch;
  const auto x = sketch.input({2, 4, 6, 5}, grid);
  const auto flipped =
      sketch.call("aten::flip", {{"self", ref(x)}, {"dims", list({2})}}, {2, 4, 6, 5});
  const auto y =
      sketch.call("aten::sub.Tensor", {{"self", ref(flipped)}, {"other", ref(x)}}, {2, 4, 6, 5});
  check_against_reference(sketch.finish(y), 12);
}

TEST_CASE("a value that pads is one of the result's format") {
  const auto padded = [](double value, const Formats& given, const Formats& of_reader) {
    Sketch sketch;
    const auto x = sketch.input({2, 3}, {{"data_out", "integer(8, 4)"}});
    const auto y =
        sketch.call("aten::pad", {{"self", ref(x)}, {"pad", list({1, 1})}, {"value", Value(value)}},
                    {2, 5}, given);
    return sketch.finish(
        of_reader.empty() ? y : sketch.call("aten::relu", {{"self", ref(y)}}, {2, 5}, of_reader));
  };
  const auto refused = [&](double value, const Formats& of_reader, const std::string& remedy) {
    CHECK_THROWS_WITH(integer::lower(padded(value, {}, of_reader)),
                      Catch::Contains("whose format is integer(8, 4), as " + remedy + " is; or"));
  };
  refused(-0.3, {}, "-0.3125");
  refused(-std::numeric_limits<double>::infinity(), {}, "-8.0");
  refused(-0.3, {{"data_in", "fp8_e4m3"}}, "-0.3125");
  // Both of the remedies that the text has.
  check_against_reference(padded(-0.3125, {}, {}), 12);
  check_against_reference(padded(-0.3125, {}, {{"data_in", "fp8_e4m3"}}), 12);
  check_against_reference(padded(-0.3, {}, {{"data_in", "integer(8, 4)"}}), 12);
  check_against_reference(padded(-0.3, {{"data_out", "integer(8, 4)"}}, {}), 12);
}

TEST_CASE("what moves elements across the batch is refused") {
  const auto refusal = [](const std::string& op, std::vector<ir::Argument> args, const Shape& out) {
    Sketch sketch;
    args.insert(args.begin(), {"self", ref(sketch.input({2, 4, 6}, grid))});
    const ir::Graph graph = sketch.finish(sketch.call(op, args, out));
    try {
      integer::lower(graph);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK_THAT(refusal("aten::flip", {{"dims", list({0})}}, {2, 4, 6}), Catch::Contains("the batch"));
  CHECK_THAT(refusal("aten::roll", {{"shifts", list({1})}, {"dims", list({})}}, {2, 4, 6}),
             Catch::Contains("the batch"));
  CHECK_THAT(refusal("aten::pad", {{"pad", list({0, 0, 0, 0, 1, 0})}}, {3, 4, 6}),
             Catch::Contains("pads the batch"));
  CHECK_THAT(refusal("aten::repeat", {{"repeats", list({2, 1, 1})}}, {4, 4, 6}),
             Catch::Contains("repeats the batch"));
}

namespace {

/// How many zeros the only step puts behind rows in a graph whose last node pads the last dimension
/// of [2, 3, 5] by `after`.
std::int64_t padding_of(Sketch sketch, NodeId x, const Value& after, std::int64_t width) {
  const NodeId y =
      sketch.call("aten::pad", {{"self", ref(x)}, {"pad", Value::list({Value(0), after})}},
                  {2, 3, width}, {{"data_out", "integer(8, 4)"}});
  const integer::Program program = integer::lower(sketch.finish(y));
  REQUIRE(program.steps.size() == 1);
  return std::get<integer::Insert>(program.steps[0].operation).after;
}

NodeId host(Sketch& sketch, const std::string& op, std::vector<ir::Argument> args) {
  ir::ValueInfo number;
  number.kind = ir::ValueInfo::Kind::integer;
  return sketch.call(op, std::move(args), number);
}

}  // namespace

TEST_CASE("numbers that are computed from sizes of a frame are known") {
  Sketch sketch;
  const NodeId x = sketch.input({2, 3, 5});
  ir::ValueInfo number, list_of_three;
  number.kind = ir::ValueInfo::Kind::integer;
  list_of_three.kind = ir::ValueInfo::Kind::list;
  list_of_three.elements.assign(3, number);
  const NodeId sizes = sketch.call("aten::size", {{"self", ref(x)}}, list_of_three);
  const NodeId width = host(sketch, "mase::getitem", {{"value", ref(sizes)}, {"index", Value(-1)}});
  // Python: (4 - 5 % 4) % 4 == 3 and -5 // 4 == -2.
  const NodeId over = host(sketch, "aten::remainder.int", {{"a", ref(width)}, {"b", Value(4)}});
  const NodeId minus = host(sketch, "aten::sub.int", {{"a", Value(4)}, {"b", ref(over)}});
  const NodeId after = host(sketch, "aten::remainder.int", {{"a", ref(minus)}, {"b", Value(4)}});
  CHECK(padding_of(sketch, x, ref(after), 8) == 3);
  const NodeId negative = host(sketch, "aten::mul.int", {{"a", ref(width)}, {"b", Value(-1)}});
  const NodeId floor = host(sketch, "aten::floordiv.int", {{"a", ref(negative)}, {"b", Value(4)}});
  const NodeId two = host(sketch, "aten::add.int", {{"a", Value(4)}, {"b", ref(floor)}});
  CHECK(padding_of(sketch, x, ref(two), 7) == 2);
  ir::ValueInfo list_of_two = list_of_three;
  list_of_two.elements.pop_back();
  const NodeId last = sketch.call(
      "mase::getitem",
      {{"value", ref(sizes)}, {"index", Value::slice(Value(-2), Value(), Value(1))}}, list_of_two);
  const NodeId three = host(sketch, "mase::getitem", {{"value", ref(last)}, {"index", Value(0)}});
  CHECK(padding_of(sketch, x, ref(three), 8) == 3);
  const NodeId stored = sketch.indices({1});
  const NodeId one = host(sketch, "aten::Int.Tensor", {{"a", ref(stored)}});
  CHECK(padding_of(sketch, x, ref(one), 6) == 1);
  const NodeId batch = host(sketch, "aten::size.int", {{"self", ref(x)}, {"dim", Value(0)}});
  CHECK_THROWS_WITH(padding_of(sketch, x, ref(batch), 7), Catch::Contains("constant integers"));
}

TEST_CASE("factors that are computed from sizes are known") {
  Sketch sketch;
  const NodeId x = sketch.input({2, 3, 16}, {{"data_out", "integer(8, 4)"}});
  const NodeId width = host(sketch, "aten::size.int", {{"self", ref(x)}, {"dim", Value(2)}});
  const NodeId power = host(sketch, "aten::pow.int_float", {{"a", ref(width)}, {"b", Value(-0.5)}});
  const NodeId root = host(sketch, "aten::sqrt.int", {{"a", ref(width)}});
  const NodeId once =
      sketch.call("aten::mul.Scalar", {{"self", ref(x)}, {"other", ref(power)}}, {2, 3, 16});
  const NodeId twice =
      sketch.call("aten::div.Scalar", {{"self", ref(once)}, {"other", ref(root)}}, {2, 3, 16});
  // As torch.nn.MultiheadAttention scales: by sqrt(1.0 / float(16)).
  const NodeId number = host(sketch, "aten::Float.Scalar", {{"a", ref(width)}});
  const NodeId part = host(sketch, "aten::div.float", {{"a", Value(1.0)}, {"b", ref(number)}});
  const NodeId scale = host(sketch, "aten::sqrt.float", {{"a", ref(part)}});
  const NodeId thrice =
      sketch.call("aten::mul.Scalar", {{"self", ref(twice)}, {"other", ref(scale)}}, {2, 3, 16});
  const integer::Program program = integer::lower(sketch.finish(thrice));
  // x / 4 / 4 / 4, exactly: 6 fraction bits more.
  CHECK(program.value(program.outputs.at(0)).type.frac == 10);
}

TEST_CASE("nearest upsampling keeps rows, not frames") {
  Sketch sketch;
  const auto x = sketch.input({2, 4, 6, 5}, {{"data_out", "integer(8, 4)"}});
  const auto y = sketch.call("aten::upsample_nearest2d", {{"input", ref(x)}}, {2, 4, 12, 10});
  const integer::Program program = integer::lower(sketch.finish(y));
  REQUIRE(program.steps.size() == 1);
  CHECK(std::get<integer::Gather>(program.steps.front().operation).period == 5 * 4);
}
