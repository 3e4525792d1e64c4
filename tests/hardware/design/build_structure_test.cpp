// SPDX-License-Identifier: Apache-2.0
// Instances, streams and parameters that programs become, compared with what the contract says.
#include <algorithm>
#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "hardware/design/build.hpp"
#include "hardware/design/modules/binary.hpp"
#include "hardware/design/modules/concat.hpp"
#include "hardware/design/modules/constant_linear.hpp"
#include "hardware/design/modules/depthwise.hpp"
#include "hardware/design/modules/insert.hpp"
#include "hardware/design/modules/linear.hpp"
#include "hardware/design/modules/pool.hpp"
#include "hardware/design/modules/reduce.hpp"
#include "hardware/design/modules/slice.hpp"
#include "hardware/design/modules/stream_resize.hpp"
#include "hardware/design/modules/window.hpp"
#include "hardware/design/modules/window_parallel.hpp"
#include "hardware/design/step_table.hpp"
#include "programs.hpp"

using namespace mase;
using namespace mase::design;
using mase::test::find_instance;
using mase::test::ProgramMaker;
using mase::test::square;
using mase::test::structure;
using Lines = std::vector<std::string>;

namespace {

integer::Window image(std::int64_t side, std::int64_t channels, std::int64_t kernel,
                      std::int64_t stride, std::int64_t pad) {
  return square(side, channels, kernel, stride, pad);
}

template <HardwareModule T>
T module_named(const Design& design, const std::string& instance) {
  return module_of<T>(*find_instance(design, instance));
}

}  // namespace

TEST_CASE("a chain of linears becomes one instance each, width converters where lanes differ") {
  ProgramMaker maker;
  auto x = maker.input("x", {8});
  auto y = maker.linear("fc1", x, 8, 6);
  maker.output(maker.linear("fc2", y, 6, 4));
  const Design design = assemble(maker.share(), {{"fc1", {4, 3}}, {"fc2", {2, 2}}});
  CHECK(structure(design) == Lines{"fc1:mase_linear(x)->fc1",
                                   "fifo_fc2_0:mase_fifo(fc1)->fifo_fc2_0",
                                   "resize_fc2:mase_stream_resize(fifo_fc2_0)->resize_fc2",
                                   "resize_fc2_1:mase_stream_resize(resize_fc2)->resize_fc2_1",
                                   "fc2:mase_linear(resize_fc2_1)->fc2"});
  CHECK(design.stream(design.inputs[0]).lanes == 4);
  CHECK(design.stream(design.inputs[0]).beats() == 2);
  CHECK(design.stream(design.outputs[0]).lanes == 2);
  // 3 lanes to 2 by way of their greatest common divisor, 1.
  CHECK(module_named<ResizeModule>(design, "resize_fc2").out_lanes == 1);
  const auto fc1 = module_named<LinearModule>(design, "fc1");
  CHECK(fc1.columns == 2);
  CHECK(fc1.passes == 2);
  CHECK(fc1.sets == 1);
  CHECK(fc1.in_bits == 8);
  CHECK(fc1.weight_bits == 4);
  CHECK(fc1.bias_bits == 3);  // -2 .. 2
  CHECK(fc1.sum_bits == 14);  // -5000 .. 5000
  CHECK(fc1.weight_file == "fc1_weight.mem");
  const Memory* weight = design.find_memory("fc1_weight.mem");
  REQUIRE(weight);
  CHECK(weight->word_bits == 4 * 3 * 4);
  CHECK(weight->words.size() == 4);
  // Word 0: rows 0 to 2, columns 0 to 3; weights are (8 row + column) mod 7 - 3, so -3 -2 -1 0,
  // -2 -1 0 1, -1 0 1 2 in two's complement, the first in the low bits.
  CHECK(weight->words[0] == "210f10fe0fed");
  // Biases -2 -1 0 and 1 2 -2 in 3 bits each: 000 111 110 and 110 010 001.
  CHECK(design.find_memory("fc1_bias.mem")->words == Lines{"03e", "191"});
}

TEST_CASE("lanes that have little in common are converted in one step where few would be slow") {
  ProgramMaker maker;
  auto x = maker.input("x", {8});
  auto y = maker.linear("fc1", x, 8, 6);
  maker.output(maker.linear("fc2", y, 6, 4));
  const Design design = build(maker.share(), {{"fc1", {4, 3}}, {"fc2", {2, 4}}});
  // One lane would take 6 cycles for the six elements, where fc1 takes 4.
  CHECK(module_named<ResizeModule>(design, "resize_fc2").in_lanes == 3);
  CHECK(module_named<ResizeModule>(design, "resize_fc2").out_lanes == 2);
  CHECK(design.timing.interval == 4);
}

TEST_CASE("lanes that always stay together are converted as one") {
  ProgramMaker maker;
  auto x = maker.input("x", {8});
  maker.output(maker.linear("fc2", maker.linear("fc1", x, 8, 12), 12, 4));
  const Design design = build(maker.share(), {{"fc1", {8, 6}}, {"fc2", {4, 4}}});
  // Of 6 lanes to 4, where 2 would take 6 cycles.
  const std::int64_t width = design.program->value(design.program->steps[0].output).type.width;
  CHECK(module_named<ResizeModule>(design, "resize_fc2").width == 2 * width);
  CHECK(module_named<ResizeModule>(design, "resize_fc2").in_lanes == 3);
  CHECK(module_named<ResizeModule>(design, "resize_fc2").out_lanes == 2);
  CHECK(design.timing.interval == 3);
}

TEST_CASE("a fully unfolded linear has constants for weights, unless DSP blocks are asked for") {
  ProgramMaker maker;
  maker.output(maker.linear("fc", maker.input("x", {2}), 2, 2));
  const Design design = assemble(maker.share(), {{"fc", {2, 2}}});
  CHECK(find_instance(design, "fc")->module.name() == "mase_constant_linear");
  const auto fc = module_named<ConstantLinearModule>(design, "fc");
  CHECK(design.memories.empty());
  // Weights -3 -2 / -1 0 as 4 bit fields, biases -2 -1 as 2 bit fields.
  CHECK((fc.weights == HexBits{"0fed", 16}));
  CHECK((fc.biases == HexBits{"e", 4}));
  Fold dsp{2, 2};
  dsp.multiplier = Multiplier::dsp;
  CHECK(find_instance(assemble(maker.share(), {{"fc", dsp}}), "fc")->module.name() ==
        "mase_linear");
}

TEST_CASE("a convolution has a window in front, of as many blocks as groups") {
  ProgramMaker maker;
  auto x = maker.input("x", {6, 6, 4});
  maker.output(maker.convolution("conv", x, image(6, 4, 3, 1, 1), 6, 2));
  const Design design = assemble(maker.share(), {{"conv", {2, 3}}});
  CHECK(structure(design) ==
        Lines{"conv_window:mase_window(x)->conv_window", "conv:mase_linear(conv_window)->conv"});
  CHECK(module_named<WindowModule>(design, "conv_window").beats == 2);
  CHECK(module_named<WindowModule>(design, "conv_window").blocks == 2);
  CHECK(module_named<WindowModule>(design, "conv_window").pad_y == 1);
  const auto conv = module_named<LinearModule>(design, "conv");
  CHECK(conv.columns == 9);
  CHECK(conv.passes == 1);
  CHECK(conv.sets == 2);
  CHECK(design.streams[1].elements == 36 * 9 * 4);
  CHECK(design.streams[2].elements == 36 * 6);
  CHECK_FALSE(conv.has_bias);
  CHECK(conv.bias_file.empty());
}

TEST_CASE("a parallel window takes whole pixels and gives whole windows") {
  ProgramMaker maker;
  auto x = maker.input("x", {6, 6, 2});
  maker.output(maker.convolution("conv", x, image(6, 2, 3, 1, 0), 4));
  Fold fold{6, 2, true};
  const Design design = assemble(maker.share(), {{"conv", fold}});
  CHECK(structure(design) ==
        Lines{"conv_window:mase_window_parallel(x)->conv_window",
              "conv_window_resize:mase_stream_resize(conv_window)->conv_window_resize",
              "conv:mase_linear(conv_window_resize)->conv"});
  CHECK(design.stream(design.inputs[0]).lanes == 2);
  CHECK(module_named<ResizeModule>(design, "conv_window_resize").in_lanes == 18);
  const auto conv = module_named<LinearModule>(design, "conv");
  CHECK(conv.columns == 3);
  CHECK(conv.passes == 2);
}

TEST_CASE("a convolution by single pixels needs no window, one with a stride does") {
  ProgramMaker maker;
  auto x = maker.input("x", {4, 4, 2});
  auto y = maker.convolution("point", x, image(4, 2, 1, 1, 0), 2);
  maker.output(maker.convolution("skip", y, image(4, 2, 1, 2, 0), 2));
  CHECK(structure(assemble(maker.share(), {})) ==
        Lines{"point:mase_linear(x)->point", "fifo_skip_0:mase_fifo(point)->fifo_skip_0",
              "skip_window:mase_window(fifo_skip_0)->skip_window",
              "skip:mase_linear(skip_window)->skip"});
}

TEST_CASE("a depthwise convolution has its own module behind a window by blocks") {
  ProgramMaker maker;
  auto x = maker.input("x", {4, 4, 4});
  maker.output(maker.convolution("dw", x, image(4, 4, 3, 1, 1), 4, 4));
  const Design design = assemble(maker.share(), {{"dw", {2, 2}}});
  CHECK(structure(design) ==
        Lines{"dw_window:mase_window(x)->dw_window", "dw:mase_depthwise(dw_window)->dw"});
  CHECK(module_named<WindowModule>(design, "dw_window").blocks == 2);
  const auto dw = module_named<DepthwiseModule>(design, "dw");
  CHECK(dw.beats == 9);
  CHECK(dw.blocks == 2);
  CHECK(design.find_memory("dw_weight.mem")->words.size() == 18);
  // Channel 0 tap 0 is -3; channel 1 tap 0 is weight number 9: 9 mod 7 - 3 = -1.
  CHECK(design.find_memory("dw_weight.mem")->words[0] == "fd");
}

TEST_CASE("a depthwise convolution's parallel window gives a beat of channels after another") {
  ProgramMaker maker;
  auto x = maker.input("x", {6, 6, 4});
  maker.output(maker.convolution("dw", x, image(6, 4, 3, 1, 1), 4, 4));
  const Design design = assemble(maker.share(), {{"dw", {3, 2, true}}});
  CHECK(structure(design) ==
        Lines{"dw_window:mase_window_parallel(x)->dw_window",
              "dw_window_resize:mase_stream_resize(dw_window)->dw_window_resize",
              "dw:mase_depthwise(dw_window_resize)->dw"});
  CHECK(design.stream(design.inputs[0]).lanes == 2);
  CHECK(module_named<WindowParallelModule>(design, "dw_window").beats == 2);
  CHECK(module_named<WindowParallelModule>(design, "dw_window").lanes == 2);
  CHECK(module_named<ResizeModule>(design, "dw_window_resize").in_lanes == 18);
  CHECK(module_named<ResizeModule>(design, "dw_window_resize").out_lanes == 6);
  const auto dw = module_named<DepthwiseModule>(design, "dw");
  CHECK(dw.beats == 3);
  CHECK(dw.blocks == 2);
  CHECK(dw.groups == 2);
  CHECK(dw.taps == 3);
  CHECK(dw.channels == 1);
  CHECK(dw.outputs == 1);
}

TEST_CASE("groups with a parallel window follow each other or work side by side") {
  ProgramMaker maker;
  auto x = maker.input("x", {6, 6, 4});
  maker.output(maker.convolution("conv", x, image(6, 4, 3, 1, 1), 6, 2));
  const auto program = maker.share();
  const Design one = assemble(program, {{"conv", {6, 1, true}}});
  CHECK(one.stream(one.inputs[0]).lanes == 2);
  CHECK(find_instance(one, "conv")->module.name() == "mase_linear");
  const auto linear = module_named<LinearModule>(one, "conv");
  CHECK(linear.columns == 3);
  CHECK(linear.passes == 3);
  CHECK(linear.sets == 2);
  const Design both = assemble(program, {{"conv", {18, 6, true}}});
  CHECK(both.stream(both.inputs[0]).lanes == 4);
  CHECK(module_named<WindowParallelModule>(both, "conv_window").beats == 1);
  CHECK(find_instance(both, "conv")->module.name() == "mase_depthwise");
  const auto groups = module_named<DepthwiseModule>(both, "conv");
  CHECK(groups.beats == 1);
  CHECK(groups.blocks == 1);
  CHECK(groups.groups == 2);
  CHECK(groups.taps == 9);
  CHECK(groups.channels == 2);
  CHECK(groups.outputs == 3);
}

TEST_CASE("weights of several outputs of a channel stand in one word") {
  ProgramMaker maker;
  auto x = maker.input("x", {3, 3, 2});
  maker.output(maker.convolution("dw", x, image(3, 2, 2, 1, 0), 4, 2));
  const Design design = assemble(maker.share(), {{"dw", {2, 2, true}}});
  // Weight i is i mod 7 - 3. Outputs 0 and 1 with taps 0 and 1 (-3 -2, 1 2), then 2 and 3;
  // channel 1.
  CHECK(design.find_memory("dw_weight.mem")->words == Lines{"21ed", "d30f", "32fe", "ed10"});
}

TEST_CASE("poolings without overlap work on the fly, others behind a window with the least code") {
  ProgramMaker maker;
  auto x = maker.input("x", {5, 5, 2});
  auto y = maker.step("pool", integer::Pool{integer::PoolKind::max, image(5, 2, 2, 2, 0)}, {x},
                      {2, 2, 2});
  maker.output(maker.step("wide", integer::Pool{integer::PoolKind::max, image(2, 2, 3, 1, 1)}, {y},
                          {2, 2, 2}));
  const Design design = assemble(maker.share(), {{"wide", {2, 2}}});
  CHECK(structure(design) == Lines{"pool:mase_pool(x)->pool",
                                   "resize_wide:mase_stream_resize(pool)->resize_wide",
                                   "fifo_wide_0:mase_fifo(resize_wide)->fifo_wide_0",
                                   "wide_window:mase_window(fifo_wide_0)->wide_window",
                                   "wide:mase_reduce(wide_window)->wide"});
  CHECK(module_named<PoolModule>(design, "pool").beats == 2);
  CHECK_FALSE(module_named<PoolModule>(design, "pool").sums);
  CHECK(module_named<ReduceModule>(design, "wide").beats == 9);
  const Sized pad = module_named<WindowModule>(design, "wide_window").pad;
  CHECK(pad.value == 0x80);  // -128 in 8 bits
}

TEST_CASE("values with several consumers are forked, and both ways to a join get a FIFO") {
  ProgramMaker maker;
  auto x = maker.input("x", {4});
  auto y = maker.linear("fc", x, 4, 4);
  auto z = maker.add("add", y, x);
  maker.output(z);
  const Design design = assemble(maker.share(), {{"fc", {2, 2}}});
  CHECK(structure(design) ==
        Lines{"fork_x:mase_stream_fork(x)->x_1,x_2", "fifo_fc_0:mase_fifo(x_1)->fifo_fc_0",
              "fc:mase_linear(fifo_fc_0)->fc", "fifo_add_0:mase_fifo(fc)->fifo_add_0",
              "resize_add:mase_stream_resize(fifo_add_0)->resize_add",
              "fifo_add_1:mase_fifo(x_2)->fifo_add_1",
              "resize_add_1:mase_stream_resize(fifo_add_1)->resize_add_1",
              "add:mase_binary(resize_add,resize_add_1)->add"});
  CHECK(module_named<BinaryModule>(design, "add").result_bits == 9);
}

TEST_CASE("inputs that meet only once need no FIFO") {
  ProgramMaker maker;
  auto a = maker.input("a", {4}), b = maker.input("b", {4});
  maker.output(maker.add("add", maker.linear("fc", a, 4, 4), b));
  CHECK(structure(assemble(maker.share(), {})) ==
        Lines{"fc:mase_linear(a)->fc", "add:mase_binary(fc,b)->add"});
}

TEST_CASE("two inputs that meet twice need FIFOs, though no join has a common ancestor") {
  ProgramMaker maker;
  auto a = maker.input("a", {4}), b = maker.input("b", {4});
  maker.output(maker.add("add", maker.linear("fc1", a, 4, 4), b));
  maker.output(maker.add("sum", a, maker.linear("fc2", b, 4, 4)));
  const Design design = assemble(maker.share(), {});
  for (const char* name : {"fifo_add_0", "fifo_add_1", "fifo_sum_0", "fifo_sum_1"})
    CHECK(find_instance(design, name));
}

TEST_CASE("a value that is an output and is used too is forked; the port keeps the name") {
  ProgramMaker maker;
  auto x = maker.input("x", {4});
  auto y = maker.linear("fc", x, 4, 4);
  maker.output(y);
  maker.output(maker.step("relu", integer::Cast{}, {y}, {4}));
  const Design design = assemble(maker.share(), {});
  CHECK(design.stream(design.outputs[0]).name == "fc");
  CHECK(design.stream(design.outputs[1]).name == "relu");
  CHECK(structure(design)[1] == "fork_fc:mase_stream_fork(fc_1)->fc_2,fc");
}

TEST_CASE("an input that is an output passes a skid") {
  ProgramMaker maker;
  maker.output(maker.input("x", {4}));
  CHECK(structure(assemble(maker.share(), {})) == Lines{"skid_x:mase_skid(x)->x_1"});
}

TEST_CASE("concatenations of three chain two modules, slices count beats") {
  ProgramMaker maker;
  auto a = maker.input("a", {3, 4}), b = maker.input("b", {3, 2}), c = maker.input("c", {3, 6});
  auto all = maker.step("cat", integer::Concat{3}, {a, b, c}, {3, 12});
  maker.output(maker.step("part", integer::Slice{4, 6, 12}, {all}, {3, 6}));
  const Design design = assemble(maker.share(), {{"cat", {2, 2}}, {"part", {2, 2}}});
  CHECK(structure(design) == Lines{"cat_1:mase_concat(a,b)->cat_1", "cat:mase_concat(cat_1,c)->cat",
                                   "part:mase_slice(cat)->part"});
  CHECK(module_named<ConcatModule>(design, "cat_1").first == 2);
  CHECK(module_named<ConcatModule>(design, "cat_1").second == 1);
  CHECK(module_named<ConcatModule>(design, "cat").first == 3);
  CHECK(module_named<ConcatModule>(design, "cat").second == 3);
  CHECK(module_named<SliceModule>(design, "part").beats == 6);
  CHECK(module_named<SliceModule>(design, "part").first == 2);
  CHECK(module_named<SliceModule>(design, "part").count == 3);
}

TEST_CASE("a beat of constants around rows lies in their image, which may be shorter than a row") {
  ProgramMaker maker;
  auto x = maker.input("x", {3, 4, 2});
  const integer::Insert below{1, 0, 8, {5, 5}};  // a row of four pixels, its image one of them
  maker.output(maker.step("pad", below, {x}, {4, 4, 2}));
  const Design design = assemble(maker.share(), {{"pad", {2, 2}}});
  CHECK(module_named<InsertModule>(design, "pad").beats == 12);
  CHECK(module_named<InsertModule>(design, "pad").after == 4);
  CHECK(module_named<InsertModule>(design, "pad").depth == 1);
  CHECK_THROWS_WITH(assemble(maker.share(), {{"pad", {4, 4}}}),
                    Catch::Contains("4 does not divide 2; use 1, 2"));
}

TEST_CASE("names of nodes survive, keywords and collisions do not") {
  ProgramMaker maker;
  auto x = maker.input("input", {4, 4, 1});
  auto y = maker.convolution("reg", x, image(4, 1, 3, 1, 1), 1);
  maker.output(maker.step("reg__window", integer::Cast{}, {y}, {4, 4, 1}));
  const Design design = assemble(maker.share(), {});
  CHECK(structure(design) == Lines{"reg__window_1:mase_window(input_)->reg__window_1",
                                   "reg_:mase_linear(reg__window_1)->reg_",
                                   "reg__window:mase_cast(reg_)->reg__window"});
  CHECK(design.find_memory("reg__weight.mem"));
}

TEST_CASE("folds that do not divide are refused with what would") {
  ProgramMaker maker;
  auto x = maker.input("x", {6});
  auto y = maker.linear("fc", x, 6, 4);
  maker.output(maker.step("relu", integer::Cast{}, {y}, {4}));
  const auto program = maker.share();
  CHECK_THROWS_WITH(
      assemble(program, {{"fc", {4, 1}}}),
      "parallelism of 'fc': simd (input lanes) = 4 does not divide 6; use 1, 2, 3, 6");
  CHECK_THROWS_WITH(assemble(program, {{"fc", {3, 0}}}),
                    "parallelism of 'fc': pe (output lanes) = 0 does not divide 4; use 1, 2, 4");
  CHECK_THROWS_WITH(assemble(program, {{"relu", {2, 4}}}), Catch::Contains("must be equal"));
  CHECK_THROWS_WITH(assemble(program, {{"fc", {1, 1, true}}}), Catch::Contains("parallel window"));
  CHECK_THROWS_WITH(assemble(program, {{"fd", {1, 1}}}), Catch::Contains("no such step"));
  ProgramMaker grouped;
  auto pixels = grouped.input("x", {6, 6, 4});
  auto inner = grouped.convolution("conv", pixels, image(6, 4, 3, 1, 1), 6, 2);
  grouped.output(grouped.convolution("wide", inner, image(6, 6, 2, 1, 2), 6, 6));
  CHECK_THROWS_WITH(assemble(grouped.share(), {{"conv", {3, 1, true}}}),
                    "parallelism of 'conv': simd (input lanes) = 3 does not divide 18 by whole "
                    "groups of 2; use 2, 6, 18");
  CHECK_THROWS_WITH(assemble(grouped.share(), {{"conv", {2, 2, true}}}),
                    "parallelism of 'conv': pe (output lanes) = 2 does not divide 6 by whole "
                    "groups of 3; use 1, 3, 6");
  CHECK_THROWS_WITH(assemble(grouped.share(), {{"wide", {1, 1, true}}}),
                    Catch::Contains("reaches over its padding"));
  try {
    assemble(program, {{"fc", {5, 1}}});
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(error.fault() == Fault::config);
  }
}

TEST_CASE("an input that nobody uses is refused") {
  ProgramMaker maker;
  maker.input("unused", {4});
  maker.output(maker.linear("fc", maker.input("x", {4}), 4, 4));
  CHECK_THROWS_WITH(assemble(maker.share(), {}), Catch::Contains("input 'unused' is not used"));
}

TEST_CASE("accumulators start with half of the divisor, without an adder for it") {
  ProgramMaker maker;
  maker.output(maker.linear("fc", maker.input("x", {4}), 4, 2));
  Step& step = maker.program().steps[0];
  step.requantise.shift = 3;
  const auto built = [&] { return assemble(maker.share(), {{"fc", {1, 1}}}); };
  const Design design = built();
  const auto fc = module_named<LinearModule>(design, "fc");
  CHECK(fc.halved);
  CHECK(fc.sum_bits == 14);  // [-5000, 5000] and 4
  const auto bias = std::ranges::find(design.memories, "fc_bias.mem", &Memory::file);
  REQUIRE(bias != design.memories.end());
  CHECK(bias->words == std::vector<std::string>{"2", "3"});  // -2 and -1, and 4
  step.requantise.rounding = formats::Rounding::floor;
  CHECK_FALSE(module_named<LinearModule>(built(), "fc").halved);
}

TEST_CASE("a bound that no value of a step passes is that of its type") {
  ProgramMaker maker;
  maker.output(maker.linear("fc", maker.input("x", {4}), 4, 2));
  Step& step = maker.program().steps[0];
  // [-100, 90] / 8 is [-12, 11] to nearest even.
  step.low = -100;
  step.high = 90;
  step.requantise = {3, 1, formats::Rounding::nearest_even, -12, 10};
  const Design design = assemble(maker.share(), {{"fc", {1, 1}}});
  const auto fc = module_named<LinearModule>(design, "fc");
  CHECK(fc.low.value == -128);
  CHECK(fc.high.value == 10);
}
