// SPDX-License-Identifier: Apache-2.0
// Convolutions and pools over many shapes, strides, paddings, groups and kernels.
#include <catch2/catch.hpp>

#include "hardware/integer/interpreter.hpp"
#include "sketch.hpp"

using namespace mase;
using namespace mase::test;
using ir::Value;

namespace {

using Index = std::int64_t;

struct Geometry {
  Index channels, height, width, outputs, kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w,
      groups;
  Index dilation_h = 1, dilation_w = 1;
};

Index out_size(Index in, Index kernel, Index stride, Index pad, Index dilation = 1) {
  return (in + 2 * pad - (kernel - 1) * dilation - 1) / stride + 1;
}

Formats ports(const std::string& in, const std::string& weight, const std::string& bias) {
  return {{"data_in", in}, {"weight", weight}, {"bias", bias}};
}

ir::NodeId convolution(Sketch& sketch, ir::NodeId x, const Geometry& g, const Formats& given) {
  return sketch.layer(
      "conv.Conv2d", "aten::conv2d", x,
      {{"stride", list({g.stride_h, g.stride_w})},
       {"padding", list({g.pad_h, g.pad_w})},
       {"dilation", list({g.dilation_h, g.dilation_w})},
       {"groups", Value(g.groups)}},
      {{"weight", {g.outputs, g.channels / g.groups, g.kernel_h, g.kernel_w}},
       {"bias", {g.outputs}}},
      {2, g.outputs, out_size(g.height, g.kernel_h, g.stride_h, g.pad_h, g.dilation_h),
       out_size(g.width, g.kernel_w, g.stride_w, g.pad_w, g.dilation_w)},
      given);
}

const std::vector<Geometry> geometries{
    {1, 7, 7, 4, 3, 3, 1, 1, 0, 0, 1},       {3, 6, 9, 5, 3, 2, 2, 1, 1, 0, 1},
    {4, 5, 5, 6, 5, 5, 1, 1, 2, 2, 2},       {6, 8, 6, 6, 3, 3, 2, 2, 1, 1, 6},
    {8, 4, 4, 16, 1, 1, 1, 1, 0, 0, 1},      {4, 9, 8, 8, 3, 3, 3, 2, 1, 1, 4},
    {5, 3, 3, 17, 3, 3, 1, 1, 1, 1, 1},      {16, 6, 6, 16, 3, 3, 1, 1, 1, 1, 16},
    {2, 12, 1, 3, 4, 1, 3, 1, 2, 0, 1},      {3, 9, 8, 5, 3, 3, 1, 1, 2, 2, 1, 2, 2},
    {4, 9, 8, 8, 2, 3, 2, 1, 1, 0, 4, 3, 2}, {6, 7, 7, 6, 3, 3, 1, 1, 2, 0, 6, 2, 3},
};

struct Transposed {
  Index inputs, outputs, kernel, stride, pad = 0, further = 0, dilation = 1, groups = 1;

  Index size(Index in) const {
    return (in - 1) * stride - 2 * pad + dilation * (kernel - 1) + further + 1;
  }
};

/// A transposed convolution over images of 7 by 6, and a ReLU.
ir::Graph transposed(const Transposed& t) {
  const std::vector<ir::Argument> attributes{{"stride", list({t.stride, t.stride})},
                                             {"padding", list({t.pad, t.pad})},
                                             {"output_padding", list({t.further, t.further})},
                                             {"groups", Value(t.groups)},
                                             {"dilation", list({t.dilation, t.dilation})}};
  Sketch sketch;
  const auto x = sketch.input({2, t.inputs, 7, 6});
  const auto y = sketch.layer(
      "conv.ConvTranspose2d", "aten::conv_transpose2d.input", x, attributes,
      {{"weight", {t.inputs, t.outputs / t.groups, t.kernel, t.kernel}}, {"bias", {t.outputs}}},
      {2, t.outputs, t.size(7), t.size(6)},
      ports("integer(8, 4)", "integer(8, 6)", "integer(8, 5)"));
  return sketch.finish(sketch.relu(y, {{"data_in", "integer(8, 3)"}}));
}

}  // namespace

TEST_CASE("convolutions equal the reference for all geometries") {
  for (const Geometry& g : geometries) {
    INFO(g.channels << "x" << g.height << "x" << g.width << " kernel " << g.kernel_h << "x"
                    << g.kernel_w << " groups " << g.groups);
    Sketch sketch;
    const auto x = sketch.input({2, g.channels, g.height, g.width});
    const auto y =
        convolution(sketch, x, g, ports("integer(8, 4)", "integer(8, 6)", "integer(8, 5)"));
    check_against_reference(sketch.finish(sketch.relu(y, {{"data_in", "integer(8, 3)"}})), 6);
  }
}

TEST_CASE("convolutions of wide and odd formats equal the reference") {
  const std::vector<Formats> all{
      ports("integer(16, 8)", "integer(16, 12)", "integer(16, 9)"),
      ports("integer(32, 16)", "integer(32, 28)", "integer(32, 20)"),
      ports("integer_floor(5, -1, is_signed=false)", "integer_floor(3, 1)", "integer(12, 9)"),
      ports("integer(1, 0)", "integer(1, 2)", "integer(2, 0)"),
      ports("integer(20, 30)", "integer(4, -3)", "integer(9, 0)"),
  };
  for (const Formats& one : all)
    for (const std::string out :
         {"", "integer(7, 2)", "integer_floor(12, 20)", "integer(32, -5)"}) {
      if (out.empty() && one[0].second == "integer(32, 16)") continue;  // more than 62 bits
      INFO(one[0].second << " " << out);
      const Geometry& g = geometries[1];
      Sketch sketch;
      const auto x = sketch.input({2, g.channels, g.height, g.width});
      Formats given = one;
      if (!out.empty()) given.emplace_back("data_out", out);
      check_against_reference(sketch.finish(convolution(sketch, x, g, given)), 6);
    }
}

TEST_CASE("convolutions over sequences equal the reference") {
  for (const std::string padding : {"same", "valid", ""}) {
    Sketch sketch;
    const auto x = sketch.input({2, 4, 11});
    const Value pad = padding.empty() ? list({1}) : Value(padding);
    const Index out = padding == "same" ? 11 : padding == "valid" ? 9 : 6;
    const Index stride = padding.empty() ? 2 : 1;
    const auto y =
        sketch.layer("conv.Conv1d", "aten::conv1d", x,
                     {{"stride", list({stride})}, {"padding", pad}, {"groups", Value(2)}},
                     {{"weight", {6, 2, 3}}}, {2, 6, out},
                     ports("integer(8, 4)", "integer(8, 6)", "integer(8, 5)"));
    const auto z = sketch.call("aten::max_pool1d", {{"self", ref(y)}, {"kernel_size", list({2})}},
                               {2, 6, out / 2});
    check_against_reference(sketch.finish(z), 6);
  }
}

TEST_CASE("transposed convolutions equal the reference") {
  for (const auto& [inputs, outputs, kernel, stride, pad, further, dilation, groups] :
       std::vector<Transposed>{{3, 4, 3, 2, 1, 1, 1, 1},
                               {4, 6, 2, 2, 0, 0, 1, 2},
                               {3, 2, 3, 1, 0, 0, 1, 1},
                               {2, 3, 3, 3, 2, 2, 2, 1},
                               {4, 4, 1, 2, 1, 1, 1, 4},
                               {3, 5, 2, 1, 3, 0, 1, 1},
                               {4, 4, 4, 2, 1, 0, 1, 2},
                               {2, 3, 3, 4, 1, 2, 1, 1},
                               {2, 3, 3, 2, 3, 1, 4, 1},
                               {2, 2, 4, 2, 3, 0, 3, 2},
                               {3, 2, 5, 3, 1, 2, 1, 1}}) {
    INFO("kernel " << kernel << " stride " << stride << " padding " << pad);
    check_against_reference(
        transposed({inputs, outputs, kernel, stride, pad, further, dilation, groups}), 6);
  }
}

TEST_CASE("transposed convolutions multiply by no zeros that stand between pixels") {
  // Kernel, stride, padding; taps of a window and windows of a row, from the definition: result p
  // has the taps k with p + padding - k a multiple of the stride.
  struct Case {
    Index kernel, stride, pad, taps, windows;
  };
  for (const auto& [kernel, stride, pad, taps, windows] :
       std::vector<Case>{{2, 2, 0, 1, 6}, {4, 2, 1, 2, 7}, {3, 2, 1, 2, 6}, {6, 3, 0, 2, 7}}) {
    INFO("kernel " << kernel << " stride " << stride << " padding " << pad);
    const integer::Program program = integer::lower(transposed({3, 4, kernel, stride, pad}));
    const auto& convolution = std::get<integer::Convolution>(program.steps.at(0).operation);
    CHECK(convolution.outputs == 4 * stride * stride);
    CHECK(convolution.window.x.kernel == taps);
    CHECK(convolution.window.x.out == windows);
    const auto& gather = std::get<integer::Gather>(program.steps.at(1).operation);
    CHECK(gather.period == windows * convolution.outputs);  // a row of the convolution is kept
  }
}

TEST_CASE("transposed convolutions whose result has another shape are refused") {
  ir::Graph graph = transposed({3, 4, 2, 2});
  for (const ir::NodeId id : graph.order())
    if (graph.node(id).kind == ir::NodeKind::call_module) graph.node(id).info.shape[2] += 1;
  CHECK_THROWS_WITH(integer::lower(graph),
                    Catch::Contains("do not give a result of shape [2, 4, 15, 12]"));
}

TEST_CASE("transposed convolutions over sequences equal the reference") {
  Sketch sketch;
  const auto x = sketch.input({2, 4, 5});
  const auto y =
      sketch.layer("conv.ConvTranspose1d", "aten::conv_transpose1d", x,
                   {{"stride", list({3})}, {"output_padding", list({1})}}, {{"weight", {4, 2, 4}}},
                   {2, 2, 17}, ports("integer(8, 4)", "integer(8, 6)", "integer(8, 5)"));
  check_against_reference(sketch.finish(y), 6);
}

TEST_CASE("padding 'same' of kernels of even reach has one more behind than before") {
  for (const Index kernel : {2, 3, 4})
    for (const Index dilation : {1, 3}) {
      INFO("kernel " << kernel << " dilation " << dilation);
      Sketch sketch;
      const auto x = sketch.input({2, 3, 8, 7});
      const auto y =
          sketch.layer("conv.Conv2d", "aten::conv2d", x,
                       {{"padding", Value(std::string("same"))}, {"dilation", list({dilation, 1})}},
                       {{"weight", {4, 3, kernel, 2}}, {"bias", {4}}}, {2, 4, 8, 7},
                       ports("integer(8, 4)", "integer(8, 6)", "integer(8, 5)"));
      check_against_reference(sketch.finish(sketch.relu(y, {{"data_in", "integer(8, 3)"}})), 6);
    }
}

TEST_CASE("zeros in front of a convolution are its window's padding") {
  const auto padded = [](const Geometry& g, const Shape& pads, double value, bool returned) {
    Sketch sketch;
    const auto x = sketch.input({2, g.channels, g.height, g.width});
    Geometry inner = g;
    inner.width += pads[0] + pads[1];
    inner.height += pads[2] + pads[3];
    const auto p =
        sketch.call("aten::pad", {{"self", ref(x)}, {"pad", list(pads)}, {"value", Value(value)}},
                    {2, g.channels, inner.height, inner.width});
    const auto y =
        convolution(sketch, p, inner, ports("integer(8, 4)", "integer(6, 4)", "integer(8, 5)"));
    if (!returned) return sketch.finish(y);
    const auto z = sketch.relu(p, {{"data_in", "integer(8, 4)"}});
    return sketch.finish(Value::tuple({ref(y), ref(z)}));
  };
  for (const Geometry& g : geometries)
    for (const Shape& pads : {Shape{0, 1, 0, 1}, Shape{1, 0, 1, 1}, Shape{1, 1, 0, 0},
                              Shape{0, 0, 0, 1}, Shape{-1, 1, 1, 0}}) {
      if (g.width + pads[0] < 1) continue;
      const bool adds = pads[0] >= 0;
      INFO(g.height << "x" << g.width << " " << shape_text(pads));
      const ir::Graph graph = padded(g, pads, 0, false);
      check_against_reference(graph, 12);
      if (g.kernel_h > 2 && g.kernel_w > 2 && adds) CHECK(integer::lower(graph).steps.size() == 1);
    }
  const Geometry& any = geometries[1];
  CHECK(integer::lower(padded(any, {0, 1, 0, 1}, 1.5, false)).steps.size() == 3);
  check_against_reference(padded(any, {0, 1, 0, 1}, 0, true), 12);   // others read the pad
  check_against_reference(padded(any, {9, 9, 9, 9}, 0, false), 12);  // windows of nothing else
}

TEST_CASE("a format behind a maximum moves to the layer before it") {
  Sketch sketch;
  const auto x = sketch.input({2, 3, 6, 6});
  const auto y = convolution(sketch, x, {3, 6, 6, 4, 3, 3, 1, 1, 1, 1, 1},
                             ports("integer(8, 4)", "integer(8, 6)", "integer(8, 5)"));
  const auto r = sketch.relu(y);
  const auto p =
      sketch.call("aten::max_pool2d", {{"self", ref(r)}, {"kernel_size", Value(2)}}, {2, 4, 3, 3});
  const auto f =
      sketch.call("aten::flatten.using_ints", {{"self", ref(p)}, {"start_dim", Value(1)}}, {2, 36});
  const ir::Graph graph =
      sketch.finish(sketch.linear(f, 5, ports("integer(6, 2)", "integer(8, 6)", "integer(8, 5)")));
  const integer::Program program = integer::lower(graph);
  REQUIRE(program.steps.size() == 3);
  CHECK(integer::type_text(program.value(program.steps[0].output).type) == "u5.2");
  CHECK(program.steps[0].name == "layer1");
  CHECK(program.value(program.steps[0].output).name == graph.node(r).name);
  check_against_reference(graph, 6);
}

TEST_CASE("maximum pools equal the reference") {
  for (const auto& [kernel, stride, pad] :
       std::vector<std::array<Index, 3>>{{2, 2, 0}, {3, 2, 1}, {3, 1, 1}, {2, 3, 1}, {3, 3, 0}}) {
    Sketch sketch;
    const auto x = sketch.input({2, 5, 8, 7}, {{"data_out", "integer(6, 2)"}});
    const auto y =
        sketch.call("aten::max_pool2d",
                    {{"self", ref(x)},
                     {"kernel_size", list({kernel, kernel})},
                     {"stride", list({stride, stride})},
                     {"padding", list({pad, pad})}},
                    {2, 5, out_size(8, kernel, stride, pad), out_size(7, kernel, stride, pad)},
                    {{"data_out", "integer(4, 1)"}});
    check_against_reference(sketch.finish(y), 9);
  }
}

TEST_CASE("maximum pools with dilation and incomplete last windows equal the reference") {
  // Sizes that torch 2.13 gives for max_pool2d of 2 x 5 x 8 x 7 with ceil_mode.
  struct Case {
    Index kernel, stride, pad, dilation, height, width;
  };
  for (const auto& [kernel, stride, pad, dilation, height, width] :
       std::vector<Case>{{3, 2, 0, 1, 4, 3},
                         {3, 2, 1, 1, 5, 4},
                         {2, 3, 0, 1, 3, 3},
                         {2, 2, 1, 3, 4, 4},
                         {3, 1, 1, 2, 6, 5},
                         {2, 5, 1, 1, 2, 2}}) {
    INFO("kernel " << kernel << " stride " << stride << " dilation " << dilation);
    Sketch sketch;
    const auto x = sketch.input({2, 5, 8, 7}, {{"data_out", "integer(6, 2)"}});
    const auto y = sketch.call("aten::max_pool2d",
                               {{"self", ref(x)},
                                {"kernel_size", list({kernel, kernel})},
                                {"stride", list({stride, stride})},
                                {"padding", list({pad, pad})},
                                {"dilation", list({dilation, dilation})},
                                {"ceil_mode", Value(true)}},
                               {2, 5, height, width});
    check_against_reference(sketch.finish(y), 9);
  }
}

TEST_CASE("average pools round the exact quotient once") {
  for (const std::string out : {"integer(8, 4)", "integer_floor(6, 1)", "integer(9, 7)"})
    for (const auto& [kernel, stride, pad] :
         std::vector<std::array<Index, 3>>{{2, 2, 0}, {3, 2, 1}, {3, 1, 1}, {5, 5, 0}}) {
      INFO(out << " kernel " << kernel);
      Sketch sketch;
      const auto x = sketch.input({2, 3, 7, 6}, {{"data_out", "integer(8, 3)"}});
      const auto y =
          sketch.call("aten::avg_pool2d",
                      {{"self", ref(x)},
                       {"kernel_size", list({kernel, kernel})},
                       {"stride", list({stride, stride})},
                       {"padding", list({pad, pad})}},
                      {2, 3, out_size(7, kernel, stride, pad), out_size(6, kernel, stride, pad)});
      check_against_reference(sketch.finish(sketch.relu(y, {{"data_in", out}})), 12);
    }
}

TEST_CASE("averages over powers of two are exact without a format") {
  Sketch sketch;
  const auto x = sketch.input({2, 3, 4, 4}, {{"data_out", "integer(8, 3)"}});
  const auto y = sketch.call("aten::adaptive_avg_pool2d",
                             {{"self", ref(x)}, {"output_size", list({1, 1})}}, {2, 3, 1, 1});
  const ir::Graph graph = sketch.finish(y);
  const integer::Program program = integer::lower(graph);
  CHECK(program.value(program.outputs[0]).type == integer::FixedType{12, 7, true});
  check_against_reference(graph, 12);
}

TEST_CASE("means, sums and maxima of whole images equal the reference") {
  for (const std::string op : {"aten::mean.dim", "aten::sum.dim_IntList", "aten::amax"})
    for (const bool kept : {false, true})
      for (const std::string out : {"integer(8, 3)", "integer_floor(12, 6)"}) {
        INFO(op << " " << kept << " " << out);
        Sketch sketch;
        const auto x = sketch.input({2, 3, 5, 4}, {{"data_out", "integer(8, 3)"}});
        const Shape shape = kept ? Shape{2, 3, 1, 1} : Shape{2, 3};
        const auto y =
            sketch.call(op, {{"self", ref(x)}, {"dim", list({2, -1})}, {"keepdim", Value(kept)}},
                        shape, {{"data_out", out}});
        check_against_reference(sketch.finish(y), 12);
      }
}

TEST_CASE("what follows a mean of images reads channels") {
  Sketch sketch;
  const auto x = sketch.input({2, 6, 4, 4}, {{"data_out", "integer(8, 3)"}});
  const auto y = sketch.call("aten::mean.dim", {{"self", ref(x)}, {"dim", list({2, 3})}}, {2, 6});
  const auto z = sketch.linear(
      y, 5, {{"data_in", "integer(8, 4)"}, {"weight", "integer(6, 4)"}, {"bias", "integer(6, 3)"}});
  check_against_reference(sketch.finish(z), 12);
}

TEST_CASE("means, sums and maxima of rows and of channels equal the reference") {
  const std::vector<std::pair<Shape, int>> cases{
      {{2, 7}, 1}, {{2, 3, 5}, 2}, {{2, 4, 3, 2}, 1}, {{2, 4, 3, 2}, 2}, {{2, 4, 3, 2}, 3}};
  for (const std::string op : {"aten::mean.dim", "aten::sum.dim_IntList", "aten::amax"})
    for (const auto& [shape, dim] : cases)
      for (const bool kept : {false, true}) {
        INFO(op << " " << shape_text(shape) << " " << kept);
        Shape result = shape;
        if (kept)
          result[static_cast<std::size_t>(dim)] = 1;
        else
          result.erase(result.begin() + dim);
        Sketch sketch;
        const auto x = sketch.input(shape, {{"data_out", "integer(8, 3)"}});
        const auto y =
            sketch.call(op, {{"self", ref(x)}, {"dim", list({dim})}, {"keepdim", Value(kept)}},
                        result, {{"data_out", "integer(9, 4)"}});
        check_against_reference(sketch.finish(y), 12);
      }
}

TEST_CASE("maxima that come with their places equal the reference") {
  for (const auto& [shape, dim] :
       std::vector<std::pair<Shape, int>>{{{2, 7}, 1}, {{2, 3, 5}, 2}, {{2, 4, 3, 2}, 1}}) {
    INFO(shape_text(shape) << " " << dim);
    Shape result = shape;
    result.erase(result.begin() + dim);
    ir::ValueInfo both;
    both.kind = ir::ValueInfo::Kind::tuple;
    both.elements = {ir::ValueInfo::tensor(DType::float32, result),
                     ir::ValueInfo::tensor(DType::int64, result)};
    Sketch sketch;
    const auto x = sketch.input(shape, {{"data_out", "integer(8, 3)"}});
    const auto y = sketch.call("aten::max.dim", {{"self", ref(x)}, {"dim", Value(dim)}}, both);
    const auto z = sketch.call("mase::getitem", {{"value", ref(y)}, {"index", Value(0)}}, result,
                               {{"data_out", "integer(6, 2)"}});
    check_against_reference(sketch.finish(z), 12);
  }
}

namespace {

Shape without(Shape shape, int dim, bool kept = false) {
  if (kept)
    shape[static_cast<std::size_t>(dim)] = 1;
  else
    shape.erase(shape.begin() + dim);
  return shape;
}

/// Inputs of three bits, so that rows have several largest elements.
const Formats coarse{{"data_out", "integer(3, -1)"}};

}  // namespace

TEST_CASE("places of maxima equal the reference, the first of equal ones") {
  const std::vector<std::pair<Shape, int>> cases{
      {{2, 7}, 1},       {{2, 1}, 1},       {{2, 3, 5}, 2},    {{2, 3, 5}, 1},
      {{2, 4, 3, 2}, 1}, {{2, 4, 3, 2}, 2}, {{2, 4, 3, 2}, 3}, {{2, 40}, 1}};
  for (const auto& [shape, dim] : cases)
    for (const bool kept : {false, true}) {
      INFO(shape_text(shape) << " " << dim << " " << kept);
      Sketch sketch;
      const auto x = sketch.input(shape, coarse);
      const auto y = sketch.call("aten::argmax",
                                 {{"self", ref(x)}, {"dim", Value(dim)}, {"keepdim", Value(kept)}},
                                 ir::ValueInfo::tensor(DType::int64, without(shape, dim, kept)));
      check_against_reference(sketch.finish(y), 12);
    }
}

TEST_CASE("maxima and their places are two results of one call") {
  for (const auto& [shape, dim] :
       std::vector<std::pair<Shape, int>>{{{2, 7}, 1}, {{2, 4, 3, 2}, 1}, {{2, 4, 3, 2}, 2}}) {
    INFO(shape_text(shape) << " " << dim);
    const Shape result = without(shape, dim);
    ir::ValueInfo both;
    both.kind = ir::ValueInfo::Kind::tuple;
    both.elements = {ir::ValueInfo::tensor(DType::float32, result),
                     ir::ValueInfo::tensor(DType::int64, result)};
    Sketch sketch;
    const auto x = sketch.input(shape, coarse);
    const auto y = sketch.call("aten::max.dim", {{"self", ref(x)}, {"dim", Value(dim)}}, both);
    std::vector<Value> items;
    for (int i = 0; i < 2; ++i)
      items.push_back(ref(sketch.call("mase::getitem", {{"value", ref(y)}, {"index", Value(i)}},
                                      both.elements[static_cast<std::size_t>(i)])));
    check_against_reference(sketch.finish(Value::list(items)), 12);
  }
}

TEST_CASE("places are integers for torch, too, and a reader's format does not round them") {
  Sketch sketch;
  const auto x = sketch.input({2, 6}, coarse);
  const auto y = sketch.call("aten::argmax", {{"self", ref(x)}, {"dim", Value(1)}},
                             ir::ValueInfo::tensor(DType::int64, {2}));
  const integer::Program program = integer::lower(sketch.finish(y));
  CHECK(program.value(program.outputs[0]).type == integer::FixedType{3, 0, false});
  const Array places = integer::decode_output(program, 0, {5, 2}, 2);
  REQUIRE(places.dtype() == DType::int64);
  CHECK(places.shape() == Shape{2});
  CHECK(places.span<std::int64_t>()[0] == 5);
  CHECK(places.span<std::int64_t>()[1] == 2);

  // A reader on a coarser grid reads rounded places; the result itself stays exact.
  Sketch read;
  const auto a = read.input({2, 4, 6}, coarse);
  const auto b = read.call("aten::argmax", {{"self", ref(a)}, {"dim", Value(2)}},
                           ir::ValueInfo::tensor(DType::int64, {2, 4}));
  const auto c = read.relu(b, {{"data_in", "integer(4, -1)"}});
  check_against_reference(read.finish(Value::list({ref(b), ref(c)})), 12);
}

TEST_CASE("the place in a whole tensor is refused, as it mixes rows of the batch") {
  Sketch sketch;
  const auto x = sketch.input({2, 6}, coarse);
  const auto y = sketch.call("aten::argmax", {{"self", ref(x)}},
                             ir::ValueInfo::tensor(DType::int64, Shape{2}));
  CHECK_THROWS_WITH(integer::lower(sketch.finish(y)),
                    Catch::Matchers::Contains("mixes rows of the batch; give it a dim"));
}

TEST_CASE("reductions over channels and rows together equal the reference") {
  Sketch sketch;
  const auto x = sketch.input({2, 3, 5, 4}, {{"data_out", "integer(8, 3)"}});
  const auto y = sketch.call("aten::mean.dim", {{"self", ref(x)}, {"dim", list({1, 2})}}, {2, 4},
                             {{"data_out", "integer(9, 4)"}});
  check_against_reference(sketch.finish(y), 12);
}

TEST_CASE("a reduction over the batch is refused") {
  const auto refusal = [](const std::vector<std::int64_t>& dims, const Shape& out) {
    Sketch sketch;
    const auto x = sketch.input({2, 3, 4, 4}, {{"data_out", "integer(8, 3)"}});
    const auto y =
        sketch.call("aten::sum.dim_IntList", {{"self", ref(x)}, {"dim", list(dims)}}, out);
    try {
      integer::lower(sketch.finish(y));
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK_THAT(refusal({0, 2, 3}, {3}), Catch::Contains("the batch"));
  CHECK_THAT(refusal({2, 3, 4}, {2, 3}), Catch::Contains("does not have"));
}

TEST_CASE("adaptive pools and divisors of their own equal the reference") {
  Sketch sketch;
  const auto x = sketch.input({2, 2, 6, 9}, {{"data_out", "integer(8, 3)"}});
  const auto y =
      sketch.call("aten::adaptive_avg_pool2d", {{"self", ref(x)}, {"output_size", list({2, 3})}},
                  {2, 2, 2, 3}, {{"data_out", "integer(8, 3)"}});
  check_against_reference(sketch.finish(y), 12);
  Sketch other;
  const auto z = other.input({2, 2, 9}, {{"data_out", "integer(8, 3)"}});
  const auto w = other.call("aten::avg_pool1d", {{"self", ref(z)}, {"kernel_size", list({3})}},
                            {2, 2, 3}, {{"data_out", "integer(8, 3)"}});
  check_against_reference(other.finish(w), 12);
}

TEST_CASE("adaptive pools to any size equal the reference") {
  for (const Shape& size : {Shape{4, 7}, Shape{5, 3}, Shape{1, 2}, Shape{6, 12}, Shape{9, 8}})
    for (const bool maximum : {false, true}) {
      INFO(shape_text(size) << " " << maximum);
      Sketch sketch;
      const auto x = sketch.input({2, 3, 6, 8}, {{"data_out", "integer(8, 3)"}});
      const Shape shape{2, 3, size[0], size[1]};
      const ir::ValueInfo part = ir::ValueInfo::tensor(DType::float32, shape);
      ir::ValueInfo both;
      both.kind = ir::ValueInfo::Kind::tuple;
      both.elements = {part, ir::ValueInfo::tensor(DType::int64, shape)};
      const std::string op = maximum ? "aten::adaptive_max_pool2d" : "aten::adaptive_avg_pool2d";
      auto y =
          sketch.call(op, {{"self", ref(x)}, {"output_size", list(size)}}, maximum ? both : part);
      if (maximum) y = sketch.call("mase::getitem", {{"value", ref(y)}, {"index", Value(0)}}, part);
      check_against_reference(sketch.finish(sketch.relu(y, {{"data_in", "integer(8, 3)"}})), 12);
    }
}

TEST_CASE("average pools divide by what torch counts in each window") {
  struct Case {
    Index kernel, stride, pad;
    bool ceil, include;
    Index height, width;
  };
  // Sizes that torch 2.13 gives for avg_pool2d of 2 x 3 x 7 x 6.
  for (const auto& [kernel, stride, pad, ceil, include, height, width] :
       std::vector<Case>{{3, 2, 1, false, false, 4, 3},
                         {3, 2, 0, true, true, 3, 3},
                         {3, 2, 1, true, true, 4, 4},
                         {2, 2, 1, true, false, 4, 4},
                         {5, 1, 2, false, false, 7, 6},
                         {3, 2, 1, true, false, 4, 4},
                         {2, 3, 0, true, true, 3, 2}}) {
    INFO("kernel " << kernel << " stride " << stride << " ceil " << ceil << " pad " << include);
    Sketch sketch;
    const auto x = sketch.input({2, 3, 7, 6}, {{"data_out", "integer(8, 3)"}});
    const auto y = sketch.call("aten::avg_pool2d",
                               {{"self", ref(x)},
                                {"kernel_size", list({kernel, kernel})},
                                {"stride", list({stride, stride})},
                                {"padding", list({pad, pad})},
                                {"ceil_mode", Value(ceil)},
                                {"count_include_pad", Value(include)}},
                               {2, 3, height, width});
    check_against_reference(sketch.finish(sketch.relu(y, {{"data_in", "integer(9, 6)"}})), 12);
  }
}
