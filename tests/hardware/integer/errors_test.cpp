// SPDX-License-Identifier: Apache-2.0
// What has no datapath is named, all of it at once, with what would help.
#include <catch2/catch.hpp>

#include "base/text.hpp"
#include "hardware/integer/interpreter.hpp"
#include "sketch.hpp"
#include "support/message_of.hpp"

using namespace mase;
using namespace mase::test;
using ir::Value;

namespace {

std::string refusal(const ir::Graph& graph) {
  return message_of(Fault::unsupported, [&] { integer::lower(graph); });
}

/// The refusal of one call on an 8-bit input of this shape.
std::string refusal(const std::string& op, std::vector<ir::Argument> args, const Shape& in,
                    const Shape& out, const Formats& formats = {}) {
  Sketch sketch;
  const auto x = sketch.input(in, {{"data_out", "integer(8, 4)"}});
  args.insert(args.begin(), {"self", ref(x)});
  return refusal(sketch.finish(sketch.call(op, args, out, formats)));
}

void says(const std::string& message, const std::string& words) {
  INFO(message);
  CHECK(message.find(words) != std::string::npos);
}

ir::NodeId pair(Sketch& sketch) {
  return sketch.input({2, 4, 6, 6}, {{"data_out", "integer(8, 4)"}});
}

}  // namespace

TEST_CASE("of what no input changes the pass is named that stores it, unless it has run") {
  Sketch sketch;
  const auto x = sketch.input({2, 6});
  ir::ValueInfo number;
  number.kind = ir::ValueInfo::Kind::integer;
  const auto rows = sketch.call("aten::size.int", {{"self", ref(x)}, {"dim", Value(1)}}, number);
  const auto places = sketch.call("aten::arange", {{"end", ref(rows)}}, {6});
  const auto mask = sketch.call("aten::cumprod", {{"self", ref(places)}, {"dim", Value(0)}}, {6});
  const auto bad = sketch.call("aten::cumprod", {{"self", ref(x)}, {"dim", Value(1)}}, {2, 6});
  const auto y = sketch.call("aten::add.Tensor", {{"self", ref(bad)}, {"other", ref(mask)}}, {2, 6},
                             {{"data_in", "integer(8, 4)"}});
  ir::Graph graph = sketch.finish(y);
  const std::string remedy =
      "pass fold_constants before quantize stores what no input changes, as '" +
      graph.node(places).name + "', '" + graph.node(mask).name + "'";
  CHECK(refusal(graph).ends_with(remedy));
  Tree folded = Tree::dict();
  folded["pass"] = "fold_constants";
  graph.history.push_back(folded);
  CHECK(refusal(graph).find("before quantize stores") == std::string::npos);
}

TEST_CASE("every node without a datapath is listed at once, and readers of such nodes are not") {
  Sketch sketch;
  const auto x = sketch.input({2, 6});
  const auto a = sketch.linear(x, 6, {{"data_in", "integer(8, 4)"}});
  const auto b = sketch.relu(a, {{"data_in", "integer(8, 4)"}});
  const auto c = sketch.call("aten::cumprod", {{"self", ref(b)}, {"dim", Value(1)}}, {2, 6});
  const auto d = sketch.linear(c, 3,
                               {{"data_in", "integer(8, 4)"},
                                {"weight", "integer(25, 4, profile=mase)"},
                                {"bias", "integer(8, 4)"}});
  const auto e = sketch.call("aten::sigmoid", {{"self", ref(d)}}, {2, 3});
  const ir::Graph graph = sketch.finish(e);
  const std::string message = refusal(graph);
  says(message, "without an integer datapath (3)");
  says(message, "node '" + graph.node(a).name + "' (linear): its weight is still float");
  says(message, "pass quantize");
  says(message, "node '" + graph.node(c).name + "' (cumprod): the op has no datapath");
  says(message, "node '" + graph.node(d).name + "' (linear): profile 'reference' above 24 bits");
  CHECK(message.find(graph.node(b).name) == std::string::npos);
}

TEST_CASE("formats whose codes are not those of exact arithmetic are refused") {
  const auto with = [](const std::string& format) {
    Sketch sketch;
    return sketch.finish(sketch.relu(sketch.input({2, 3}, {{"data_out", format}})));
  };
  says(refusal(with("integer(25, 4, profile=mase)")), "profile 'reference' above 24 bits");
  says(refusal(with("integer_floor(8, -1, profile=mase)")), "use profile 'exact'");
  const auto bias_with = [](const std::string& format) {
    Sketch sketch;
    const auto x = sketch.input({2, 5}, {{"data_out", "integer(8, 4)"}});
    return sketch.finish(sketch.linear(x, 2, {{"weight", "integer(8, 4)"}, {"bias", format}}));
  };
  says(refusal(bias_with("integer(8, 4, granularity=channel, channel_frac_width=[3, 4])")),
       "give this port granularity = \"tensor\"");
  const auto far_apart = [](bool bias) {
    Sketch sketch;
    const auto x = sketch.input({2, 5}, {{"data_out", "integer(8, 4)"}});
    const std::string weight = "integer(8, 4, granularity=channel, channel_frac_width=[0, ";
    Formats formats{{"weight", weight + (bias ? "100])" : "115])")}};
    if (bias) formats.emplace_back("bias", "integer(8, 4)");
    return sketch.finish(sketch.linear(x, 2, formats, 100, bias));
  };
  for (const bool bias : {false, true})
    says(refusal(far_apart(bias)), "calibrate its weight anew (pass calibrate)");
  CHECK_NOTHROW(integer::lower(with("integer(24, 4, profile=mase)")));
  CHECK_NOTHROW(integer::lower(with("integer_floor(8, 0, profile=mase)")));
}

TEST_CASE("a stochastic format is lowered as nearest_even, which is what evaluation computes") {
  const auto program = [](const std::string& rounding) {
    Sketch sketch;
    const std::string format = "integer(6, 2, rounding=" + rounding + ")";
    const auto x = sketch.input({2, 6}, {{"data_out", format}});
    const auto y = sketch.linear(x, 6, {{"data_in", format}, {"weight", format}, {"bias", format}});
    return integer::program_text(integer::lower(sketch.finish(y)));
  };
  CHECK(program("stochastic") == program("nearest_even"));
  CHECK(program("stochastic") != program("floor"));
  CHECK(program("stochastic") != program("nearest_away"));
}

TEST_CASE("inputs need one grid that all readers agree on") {
  Sketch sketch;
  const auto x = sketch.input({2, 3});
  const auto a = sketch.relu(x, {{"data_in", "integer(8, 4)"}});
  const auto b = sketch.relu(x, {{"data_in", "integer(8, 3)"}});
  says(refusal(sketch.finish(Value::tuple({ref(a), ref(b)}))),
       "do not ask for data_in formats of one fraction");
  Sketch floating;
  says(refusal(floating.finish(floating.relu(floating.input({2, 3})))), "pass quantize");
}

TEST_CASE("a reader's format without a datapath is named, also behind what passes it on") {
  const auto reads = [](const std::string& op, const std::string& format) {
    Sketch sketch;
    const auto x = sketch.input({2, 3}, {});
    const auto moved = op.empty() ? x : sketch.call(op, {{"self", ref(x)}}, {2, 3});
    return sketch.finish(sketch.relu(moved, {{"data_in", format}}));
  };
  for (const char* op : {"", "aten::relu"}) {
    const std::string message = refusal(reads(op, "integer(25, 4, profile=mase)"));
    says(message, "node 'x0' (placeholder)");
    says(message, "format of data_in of 'relu");
    says(message, "profile 'reference' above 24 bits");
    says(refusal(reads(op, "nvfp4")), "format of data_in of 'relu");
  }
}

TEST_CASE("nvfp4 that data cannot have is refused with one that they can") {
  const auto reads = [](const std::string& fields) {
    Sketch sketch;
    return sketch.finish(
        sketch.relu(sketch.input({2, 16}), {{"data_in", "nvfp4(" + fields + ")"}}));
  };
  says(refusal(reads("")), "tensor_scale = \"none\" has one for all");
  says(refusal(reads("tensor_scale=0.3")), "tensor_scale = 0.5 has one for all");
  says(refusal(reads("tensor_scale=3e-05")), "tensor_scale = 3.0517578125e-05 has one for all");
  says(refusal(reads("tensor_scale=none, rounding=floor")), "rounding = \"nearest_even\" has one");
  for (const std::string remedy :
       {"tensor_scale=none", "tensor_scale=0.5", "tensor_scale=3.0517578125e-05",
        "tensor_scale=none, rounding=nearest_even", "tensor_scale=none, rounding=nearest_away"})
    CHECK_NOTHROW(integer::lower(reads(remedy)));
}

TEST_CASE("batch norms that still divide ask for fuse_batch_norm") {
  Sketch sketch;
  const auto x = sketch.input({2, 4}, {{"data_out", "integer(8, 4)"}});
  const auto y =
      sketch.layer("batchnorm.BatchNorm1d", "aten::batch_norm", x, {{"eps", Value(1e-5)}},
                   {{"weight", {4}}, {"bias", {4}}, {"running_mean", {4}}, {"running_var", {4}}},
                   {2, 4}, {{"weight", "integer(8, 4)"}, {"bias", "integer(8, 4)"}});
  const std::string message = refusal(sketch.finish(y));
  says(message, "pass fuse_batch_norm");
  says(message, "then pass quantize");
}

TEST_CASE("windows without a datapath say why") {
  const Shape in{2, 4, 6, 6};
  says(refusal("aten::max_pool2d",
               {{"kernel_size", Value(2)}, {"padding", Value(1)}, {"dilation", Value(7)}}, in,
               {2, 4, 1, 1}),
       "wholly in the padding");
  says(refusal("aten::max_pool2d", {{"kernel_size", Value(2)}, {"dilation", Value(6)}}, in,
               {2, 4, 0, 0}),
       "does not fit its input");
  says(refusal("aten::avg_pool2d",
               {{"kernel_size", Value(33)},
                {"stride", Value(1)},
                {"padding", Value(16)},
                {"count_include_pad", Value(false)}},
               {2, 1, 40, 40}, {2, 1, 40, 40}),
       "too many different divisors");
  says(refusal("aten::avg_pool2d", {{"kernel_size", Value(3)}}, in, {2, 4, 2, 2}),
       "fraction that no binary code has");
  says(refusal("aten::adaptive_avg_pool2d", {}, in, {2, 4, 1, 5}), "give it a data_out format");
  says(refusal("aten::adaptive_avg_pool2d", {}, in, {2, 4, 1, 5}, {{"data_out", "integer(8, 4)"}}),
       "nothing was thrown");
}

TEST_CASE("elementwise ops without a datapath say why") {
  const Shape in{2, 6};
  says(refusal("aten::sigmoid", {}, in, in), "needs a grid");
  says(refusal("aten::div.Scalar", {{"other", Value(-3.0)}}, in, in), "negative");
  says(refusal("aten::add.Scalar", {{"other", Value(1.0)}, {"alpha", Value(2)}}, in, in), "alpha");
  says(refusal("aten::hardtanh", {{"min_val", Value(-1e-30)}, {"max_val", Value(1.0)}}, in, in),
       "not codes of its input");
  says(refusal("aten::cumprod", {{"dim", Value(1)}}, in, in), "the op has no datapath");
  Sketch shapes;
  const auto a = pair(shapes), b = shapes.input({2, 1, 1}, {{"data_out", "integer(8, 4)"}});
  says(refusal(shapes.finish(
           shapes.call("aten::mul.Tensor", {{"self", ref(a)}, {"other", ref(b)}}, {2, 4, 6, 6}))),
       "does not stretch");
  Sketch constants;
  const auto c = pair(constants), p = constants.parameter({6}, 1);
  says(refusal(
           constants.finish(constants.call("aten::maximum", {{"self", ref(c)}, {"other", ref(p)}},
                                           {2, 4, 6, 6}, {{"data_in", "integer(8, 4)"}}))),
       "constants that differ");
  const auto quotient = [](const Formats& given) {
    Sketch sketch;
    const auto d = pair(sketch), e = pair(sketch);
    return sketch.finish(sketch.call("aten::div.Tensor", {{"self", ref(d)}, {"other", ref(e)}},
                                     {2, 4, 6, 6}, given));
  };
  says(refusal(quotient({})), "data_out = \"integer(8, 4)\"");
  CHECK_NOTHROW(integer::lower(quotient({{"data_out", "integer(8, 4)"}})));
}

TEST_CASE("formats that readers ask for are named as they are written") {
  Sketch sketch;
  const auto x = sketch.input({2, 6});
  const auto a = sketch.call("aten::relu", {{"self", ref(x)}}, {2, 6}, {{"data_in", "fp8_e4m3"}});
  const auto b = sketch.call("aten::relu", {{"self", ref(x)}}, {2, 6},
                             {{"data_in", "integer(6, 3, is_signed=false, rounding=floor)"}});
  const std::string text = refusal(sketch.finish(
      sketch.call("aten::add.Tensor", {{"self", ref(a)}, {"other", ref(b)}}, {2, 6})));
  says(text, "asks for fp8_e4m3()");
  says(text, "for integer(6, 3, is_signed=false, rounding=floor)");
  CHECK(formats::parse_format("integer(6, 3, is_signed=false, rounding=floor)").text() ==
        "integer(6, 3, is_signed=false, rounding=floor)");
}

TEST_CASE("a constant over a stream is refused with what has a datapath") {
  const Shape shape{2, 6};
  Sketch over;
  const auto x = over.input(shape, {{"data_out", "integer(8, 4)"}});
  says(refusal(over.finish(over.call("aten::div.Tensor",
                                     {{"self", ref(over.constants({3}, {1}))}, {"other", ref(x)}},
                                     shape))),
       "multiply torch.reciprocal of the stream by it");
  Sketch product;
  const auto y = product.call("aten::reciprocal", {{"self", ref(product.input(shape))}}, shape,
                              {{"data_in", "integer(8, 4)"}, {"data_out", "integer(8, 4)"}});
  const auto z = product.call("aten::mul.Scalar", {{"self", ref(y)}, {"other", Value(3.0)}}, shape);
  CHECK_FALSE(integer::lower(product.finish(z)).steps.empty());
}

TEST_CASE("ops that a pass takes apart are refused with its name") {
  Sketch einsum;
  const auto x = einsum.input({2, 3, 4}, {{"data_out", "integer(8, 4)"}});
  says(refusal(einsum.finish(einsum.call("aten::einsum",
                                         {{"equation", Value(std::string("bij,bkj->bik"))},
                                          {"tensors", Value::list({ref(x), ref(x)})}},
                                         {2, 3, 3}))),
       "pass expand_einsum before quantize");
  Sketch attention;
  const auto y = attention.input({2, 2, 3, 4}, {{"data_out", "integer(8, 4)"}});
  says(refusal(attention.finish(
           attention.call("aten::scaled_dot_product_attention",
                          {{"query", ref(y)}, {"key", ref(y)}, {"value", ref(y)}}, {2, 2, 3, 4}))),
       "pass expand_attention before quantize");
}

TEST_CASE("what mixes rows of the batch is refused") {
  const Shape in{2, 4, 6};
  says(refusal("aten::flatten.using_ints", {{"start_dim", Value(0)}}, in, {48}), "mixes rows");
  says(refusal("aten::view", {{"size", Value(1)}}, in, {4, 2, 6}), "mixes rows");
  says(refusal("aten::transpose.int", {{"dim0", Value(0)}, {"dim1", Value(1)}}, in, {4, 2, 6}),
       "the batch is not the first dimension");
}

TEST_CASE("windows have no datapath where the batch is not the first dimension") {
  Sketch sketch;
  const auto x = sketch.input({2, 4, 6}, {{"data_out", "integer(8, 4)"}});
  const auto turned = sketch.call(
      "aten::transpose.int", {{"self", ref(x)}, {"dim0", Value(0)}, {"dim1", Value(1)}}, {4, 2, 6});
  const auto pooled = sketch.call("aten::avg_pool1d",
                                  {{"self", ref(turned)}, {"kernel_size", Value(3)}}, {4, 2, 2});
  says(refusal(sketch.finish(pooled)), "the batch is dimension 1 of its input; put it in front");
}

TEST_CASE("constants that a cat cannot stand beside a stream are refused") {
  const auto joined = [](const Shape& shape, bool stream) {
    Sketch sketch;
    const auto x = sketch.input({2, 4, 6}, {{"data_out", "integer(8, 4)"}});
    const auto c = sketch.parameter(shape, 1);
    const auto items = stream ? Value::list({ref(c), ref(x)}) : Value::list({ref(c), ref(c)});
    return refusal(sketch.finish(
        sketch.call("aten::cat", {{"tensors", items}, {"dim", Value(1)}}, {2, stream ? 5 : 2, 6})));
  };
  says(joined({2, 1, 6}, true), "has rows of the batch");
  says(joined({1, 1, 5}, true), "differ in another dimension");
  says(joined({1, 1, 6}, false), "joins constants only; pass fold_constants");
}

TEST_CASE("results and accumulators that are too wide are refused") {
  const auto square = [](const Formats& formats) {
    Sketch sketch;
    const auto x = sketch.input({2, 3}, {{"data_out", "integer(32, 4)"}});
    return sketch.finish(
        sketch.call("aten::mul.Tensor", {{"self", ref(x)}, {"other", ref(x)}}, {2, 3}, formats));
  };
  says(refusal(square({})), "needs 64 bits, more than 62, and nothing rounds it here");
  integer::lower(square({{"data_out", "integer(8, 0)"}}));
  says(refusal(square({{"data_out", "mxint8()"}})), "its accumulator needs 65 bits, more than 62");
  // A sum of products of two squares.
  const auto products = [](const std::string& format, std::int64_t terms) {
    Sketch sketch;
    const Shape left{2, 3, terms}, right{2, terms, 3};
    const auto of = [&](const Shape& shape) {
      const auto x = sketch.input(shape, {{"data_out", format}});
      return sketch.call("aten::mul.Tensor", {{"self", ref(x)}, {"other", ref(x)}}, shape);
    };
    const auto a = of(left), b = of(right);
    return sketch.finish(sketch.call("aten::matmul", {{"self", ref(a)}, {"other", ref(b)}},
                                     {2, 3, 3}, {{"data_out", "integer(8, 0)"}}));
  };
  says(refusal(products("integer(31, 4)", 16)), "its accumulator needs 128 bits, more than 126");
  says(refusal(products("integer(31, 4)", 64)), "could need 130 bits, more than 126");
  integer::lower(products("integer(31, 4)", 4));
  integer::lower(products("integer(30, 4)", 16));
  Sketch far;
  const auto a = far.input({2, 3}, {{"data_out", "integer(32, 120)"}});
  const auto b = far.input({2, 3}, {{"data_out", "integer(32, -120)"}});
  const auto c = far.call("aten::add.Tensor", {{"self", ref(a)}, {"other", ref(b)}}, {2, 3},
                          {{"data_out", "integer(8, 0)"}});
  says(refusal(far.finish(c)), "too far apart");
}

TEST_CASE("a format on a constant that is only transposed is refused") {
  Sketch sketch;
  const auto x = sketch.input({2, 5}), w = sketch.parameter({3, 5}, 2);
  const auto turned =
      sketch.call("aten::t", {{"self", ref(w)}}, {5, 3}, {{"data_out", "integer(8, 4)"}});
  const auto y = sketch.call("aten::mm", {{"self", ref(x)}, {"mat2", ref(turned)}}, {2, 3},
                             {{"data_in", "integer(8, 4)"}, {"weight", "integer(6, 3)"}});
  says(refusal(sketch.finish(y)), "it moves a constant; give its format to what reads it");
}

TEST_CASE("an input of another number of rows is refused with what would do") {
  Sketch sketch;
  const auto x = sketch.input({2, 4, 6}, {{"data_out", "integer(8, 4)"}});
  const auto mask = sketch.input({4, 6}, {{"data_out", "integer(8, 4)"}});
  const std::string message = refusal(sketch.finish(
      sketch.call("aten::add.Tensor", {{"self", ref(x)}, {"other", ref(mask)}}, {2, 4, 6})));
  says(message, "node 'x1' (placeholder): its shape [4, 6]");
  says(message, "the first dimension of 'x0', is 2");
  says(message, "or make it a buffer of the model");
  CHECK(message.find("without an integer datapath (1)") != std::string::npos);
}

TEST_CASE("ops that write into a cache, or give as many elements as there are, say what would do") {
  Sketch cache;
  const auto x = cache.input({2, 4, 6}, {{"data_out", "integer(8, 4)"}});
  const auto written = cache.call(
      "aten::slice_scatter",
      {{"self", ref(x)}, {"src", ref(x)}, {"dim", Value(1)}, {"start", Value(0)}}, {2, 4, 6});
  const auto placed = cache.call(
      "aten::index_copy_", {{"self", ref(x)}, {"dim", Value(1)}, {"source", ref(x)}}, {2, 4, 6});
  const auto chosen = cache.call("aten::nonzero", {{"self", ref(x)}}, {48, 3});
  const std::string message =
      refusal(cache.finish(Value::tuple({ref(written), ref(placed), ref(chosen)})));
  says(message, "without an integer datapath (3)");
  says(message, "(slice_scatter): the op has no datapath; nothing is kept from frame to frame");
  says(message, "(index_copy): the op has no datapath; nothing is kept from frame to frame");
  says(message, "torch.cat of its past and what is new");
  says(message, "(nonzero): the op has no datapath; how many elements it gives depends");
}

TEST_CASE("constants that do not stretch to their stream are shown with its shape") {
  Sketch sketch;
  const auto x = sketch.input({2, 4, 6}, {{"data_out", "integer(8, 4)"}});
  const auto p = sketch.parameter({5}, 1, {{"data_out", "integer(8, 4)"}});
  says(refusal(sketch.finish(
           sketch.call("aten::mul.Tensor", {{"self", ref(x)}, {"other", ref(p)}}, {2, 4, 6}))),
       "its constants [5] do not stretch to [4, 6]");
}

TEST_CASE("a table has no function of the sum of two tensors with different steps") {
  const auto scaled = [](Sketch& sketch, double step) {
    const auto x = sketch.input({2, 6}, {{"data_out", "integer(8, 0)"}});
    return sketch.call("aten::mul.Scalar", {{"self", ref(x)}, {"other", Value(step)}}, {2, 6});
  };
  const auto rounded = [](Sketch& sketch, ir::NodeId x) {
    const auto y = sketch.call("aten::sigmoid", {{"self", ref(x)}}, {2, 6});
    return sketch.finish(sketch.call("aten::div.Scalar",
                                     {{"self", ref(y)}, {"other", Value(0.0037)}}, {2, 6},
                                     {{"data_out", "integer(10, 0)"}}));
  };
  Sketch one;
  CHECK(integer::lower(rounded(one, scaled(one, 0.031))).steps.size() > 0);
  Sketch two;
  const auto a = scaled(two, 0.031), b = scaled(two, 0.0573);
  const auto sum = two.call("aten::add.Tensor", {{"self", ref(a)}, {"other", ref(b)}}, {2, 6});
  says(refusal(rounded(two, sum)), "(sigmoid): its result needs a grid");
}
