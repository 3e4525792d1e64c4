// SPDX-License-Identifier: Apache-2.0
// Results in formats with blocks: by a data_out format or by what all readers ask for, of ops whose
// exact results no code holds, and of views.
#include <catch2/catch.hpp>
#include <tuple>

#include "hardware/integer/interpreter.hpp"
#include "sketch.hpp"
#include "support/message_of.hpp"

using namespace mase;
using namespace mase::test;
using ir::Value;

namespace {

const std::string eights = "mxint8(block_size=4, scale_bits=4)";
const std::string fours = "mxfp4(block_size=4, block_dim=1, scale_bits=4)";

void check(const ir::Graph& graph, double scale = 4) {
  check_against_reference(graph, scale);
  check_groups_against_reference(graph);
}

/// An op on an 8-bit input, which a layer reads.
ir::Graph read_by_layer(const std::string& op, std::vector<ir::Argument> arguments, const Shape& in,
                        const Shape& out, const Formats& formats, const std::string& asked) {
  Sketch sketch(9);
  const auto x = sketch.input(in, {{"data_out", "integer(8, 4)"}});
  arguments.insert(arguments.begin(), {"self", ref(x)});
  const auto y = sketch.call(op, arguments, out, formats);
  return sketch.finish(
      sketch.linear(y, 3, {{"data_in", asked}, {"weight", eights}, {"bias", "integer(8, 5)"}}));
}

}  // namespace

TEST_CASE("functions and fractions take the format with blocks of their result or their readers") {
  for (const std::string format :
       {eights, fours, std::string("block_log(5, 4, block_size=[2, 4], skip_first_dim=true)"),
        std::string("mxint_hardware(6, 4, [2, 4])"),
        std::string("nvfp4(block_size=4, tensor_scale=none)")}) {
    INFO(format);
    for (const Formats& own : {Formats{}, Formats{{"data_out", format}}}) {
      check(read_by_layer("aten::gelu", {}, {2, 6, 8}, {2, 6, 8}, own, format));
      check(read_by_layer("aten::sigmoid", {}, {2, 6, 8}, {2, 6, 8}, own, format));
      check(read_by_layer("aten::avg_pool2d", {{"kernel_size", Value(3)}}, {2, 2, 12, 12},
                          {2, 2, 4, 4}, own, format));
    }
  }
}

TEST_CASE("a mean that loses its dimension has the blocks of what is left") {
  check(read_by_layer("aten::mean.dim", {{"dim", list({1})}}, {2, 3, 8}, {2, 8}, {}, eights));
  check(read_by_layer("aten::mean.dim", {{"dim", list({1})}}, {2, 5, 8}, {2, 8},
                      {{"data_out", eights}}, eights));
}

TEST_CASE("formats with blocks do not pass through what moves or chooses elements") {
  // A maximum of rounded numbers is another one than the rounded maximum: its block differs.
  const Shape image{2, 4, 4, 4}, half{2, 4, 2, 2};
  for (const std::string format : {eights, fours}) {
    Sketch sketch(4);
    const auto x = sketch.input(image, {{"data_out", "integer(12, 6)"}});
    const auto pooled =
        sketch.call("aten::max_pool2d", {{"self", ref(x)}, {"kernel_size", Value(2)}}, half);
    const auto flat =
        sketch.call("aten::reshape", {{"self", ref(pooled)}, {"shape", list({2, 16})}}, {2, 16});
    check(sketch.finish(sketch.linear(
        flat, 5, {{"data_in", format}, {"weight", eights}, {"bias", "integer(8, 5)"}})));
  }
  Sketch sketch(4);
  const auto x = sketch.input(image);
  const auto pooled =
      sketch.call("aten::max_pool2d", {{"self", ref(x)}, {"kernel_size", Value(2)}}, half);
  const auto y = sketch.relu(pooled, {{"data_in", eights}});
  const ir::Graph graph = sketch.finish(y);
  CHECK(message_of(Fault::unsupported, [&] {
          integer::lower(graph);
        }).find("a format of its own, data_out") != std::string::npos);
}

TEST_CASE("blocks of several rows of the batch are refused with a field that works") {
  const auto read_in = [](const std::string& format) {
    Sketch sketch(11);
    const auto x = sketch.input({2, 8}, {{"data_out", "integer(8, 4)"}});
    return sketch.finish(sketch.relu(x, {{"data_out", format}}));
  };
  for (const auto& [format, open, remedy] :
       {std::tuple("mxint4(block_size=2, scale_bits=4, ", "block_dim = 0", "block_dim = -1"),
        std::tuple("block_fp(6, 4, block_size=[2, 4], ", "skip_first_dim = false",
                   "skip_first_dim = true"),
        std::tuple("block_log(4, 4, block_size=[4], ", "skip_first_dim = NA",
                   "skip_first_dim = true")}) {
    INFO(format);
    const ir::Graph refused = read_in(std::string(format) + open + ")");
    CHECK(message_of(Fault::unsupported, [&] {
            integer::lower(refused);
          }).find("; " + std::string(remedy) + " has one") != std::string::npos);
    check(read_in(std::string(format) + remedy + ")"));
  }
}

TEST_CASE("tiles over rows and columns divide products, images and their weights") {
  const std::string format = "mxint_hardware(6, 4, [2, 2])";
  const Formats all{
      {"data_in", format}, {"weight", format}, {"bias", "integer(8, 5)"}, {"data_out", format}};
  Sketch sketch(6);
  const auto x = sketch.input({2, 4, 6}, {{"data_out", format}});
  check(sketch.finish(sketch.linear(x, 8, all)));
  Sketch images(7);
  const auto image = images.input({2, 2, 4, 4}, {{"data_out", format}});
  check(images.finish(
      images.layer("conv.Conv2d", "aten::conv2d", image, {{"padding", Value(1)}},
                   {{"weight", {4, 2, 4, 4}}, {"bias", {4}}}, {2, 4, 3, 3},
                   {{"data_in", format}, {"weight", format}, {"bias", "integer(8, 5)"}})));
}

TEST_CASE("zeros of a pad in front of a convolution stand in the blocks of its input") {
  // Blocks of lines begin at the first zero; those of channels have zeros or pixels.
  for (const std::string format :
       {"mxint8(block_size=3, scale_bits=4)", "mxint4(block_size=2, block_dim=1, scale_bits=4)",
        "block_fp(6, 4, block_size=[2, 3], skip_first_dim=true)"}) {
    INFO(format);
    Sketch sketch(10);
    const auto x = sketch.input({2, 2, 4, 5}, {{"data_out", "integer(8, 4)"}});
    const auto padded = sketch.call("aten::constant_pad_nd",
                                    {{"self", ref(x)}, {"pad", list({1, 2, 0, 1})}}, {2, 2, 5, 8});
    check(sketch.finish(sketch.layer("conv.Conv2d", "aten::conv2d", padded, {},
                                     {{"weight", {3, 2, 3, 3}}}, {2, 3, 3, 6},
                                     {{"data_in", format}, {"weight", "integer(8, 4)"}})));
  }
}

TEST_CASE("blocks of a dimension of 1 have one element, whose exponent is its own") {
  Sketch sketch(8);
  const auto x = sketch.input({2, 1, 6, 6}, {{"data_out", fours}});
  check(sketch.finish(sketch.layer(
      "conv.Conv2d", "aten::conv2d", x, {}, {{"weight", {4, 1, 3, 3}}, {"bias", {4}}}, {2, 4, 4, 4},
      {{"weight", fours},
       {"bias", "integer(8, 5)"},
       {"data_out", "mxfp8_e4m3(block_size=2, block_dim=2, scale_bits=3)"}})));
}

TEST_CASE("formats with blocks of one element, or with one exponent, round in every place") {
  const std::string ones = "mxint4(block_size=1, scale_bits=4)";
  const std::string single = "mxint8(block_size=4, exponent_min=1, exponent_max=1)";
  for (const std::string format :
       {ones, single, std::string("mxfp4(block_size=1, scale_bits=3)"),
        std::string("mxfp6_e2m3(block_size=4, exponent_min=-1, exponent_max=-1)"),
        std::string("block_fp(6, 4, block_size=[1], skip_first_dim=true)")}) {
    INFO(format);
    check(read_by_layer("aten::gelu", {}, {2, 6, 8}, {2, 6, 8}, {}, format));
    check(read_by_layer("aten::avg_pool2d", {{"kernel_size", Value(3)}}, {2, 2, 12, 12},
                        {2, 2, 4, 4}, {{"data_out", format}}, eights));
    Sketch sketch(12);
    const auto x = sketch.input({2, 8});
    check(sketch.finish(sketch.linear(x, 5,
                                      {{"data_in", format},
                                       {"weight", format},
                                       {"bias", "integer(8, 5)"},
                                       {"data_out", format}})));
  }
}

TEST_CASE("a jump of a wide input that pieces do not reach names a data_in format that does") {
  const auto shrunk = [](const Formats& formats) {
    Sketch sketch;
    const auto x = sketch.input({2, 8}, {{"data_out", "integer(16, 8)"}});
    return sketch.finish(sketch.call("aten::hardshrink", {{"self", ref(x)}, {"lambd", Value(20.5)}},
                                     {2, 8}, formats));
  };
  const auto message = message_of(Fault::unsupported, [&] {
    integer::lower(shrunk({{"data_out", eights}}));
  });
  CHECK(message.find("give it a data_in format of at most 12 bits") != std::string::npos);
  check(shrunk({{"data_in", "integer(12, 4)"}, {"data_out", eights}}), 40);
}
