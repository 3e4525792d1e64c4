// SPDX-License-Identifier: Apache-2.0
// The frames beside a bench show nearly every bit that any frame shows, and reach extremes.
#include <algorithm>
#include <catch2/catch.hpp>

#include "hardware/emit/vectors.hpp"
#include "hardware/integer/faults.hpp"
#include "ir/text.hpp"

using namespace mase;
using namespace mase::integer;

namespace {

/// A convolution, relu, mean over pixels, a table, and a linear layer.
Program network() {
  ir::Graph graph = ir::parse(R"(graph "net" {
  module conv : torch.nn.modules.conv.Conv2d = aten::conv2d() [weight=@conv.weight, bias=@conv.bias]
  module fc : torch.nn.modules.linear.Linear = aten::linear() [weight=@fc.weight, bias=@fc.bias]
  tensor conv.weight : float32[6, 2, 3, 3] parameter grad
  tensor conv.bias : float32[6] parameter grad
  tensor fc.weight : float32[5, 6] parameter grad
  tensor fc.bias : float32[5] parameter grad
  %x : float32[2, 2, 6, 6] = placeholder x
  %conv : float32[2, 6, 4, 4] = call_module conv aten::conv2d(input=%x) {bias=integer(8, 5), data_in=integer(8, 4), weight=integer(6, 4)}
  %relu : float32[2, 6, 4, 4] = call_function torch.relu aten::relu(self=%conv) {data_in=integer(8, 4)}
  %mean : float32[2, 6] = call_function torch.mean aten::mean.dim(self=%relu, dim=[2, 3]) {data_in=integer(8, 4), data_out=integer(8, 5)}
  %tanh : float32[2, 6] = call_function torch.tanh aten::tanh(self=%mean) {data_in=integer(7, 4), data_out=integer(8, 7)}
  %fc : float32[2, 5] = call_module fc aten::linear(input=%tanh) {bias=integer(8, 6), data_in=integer(8, 6), weight=integer(6, 4)}
  %output : float32[2, 5] = output output(value=%fc)
}
)",
                              "test");
  Random random(5);
  for (auto& [path, tensor] : graph.tensors)
    for (float& value : tensor.value.mutable_span<float>())
      value = static_cast<float>(random.uniform(-0.7, 0.9));
  return lower(graph);
}

struct Counts {
  int shown = 0, missed = 0;
};

/// How many of fresh bits the vectors show, and how many only the further frames.
Counts count(const Program& program, const emit::Vectors& vectors) {
  constexpr std::int64_t frames = 2000;
  const std::vector<Codes> further = emit::varied_frames(program, frames, 77);
  const std::vector<Codes> outputs = Interpreter(program).run(further, frames);
  const ConstantBits bits(program);
  FaultSimulator simulator(program);
  Random random(77);
  Counts counts;
  for (int i = 0; i < 600; ++i) {
    const ConstantBit bit = bits.draw(random);
    if (simulator.shown_by(bit, vectors.inputs, vectors.outputs, vectors.frames) >= 0)
      ++counts.shown;
    else if (simulator.shown_by(bit, further, outputs, frames) >= 0)
      ++counts.missed;
  }
  return counts;
}

}  // namespace

TEST_CASE("the vectors show at least 99 of 100 bits that can be observed") {
  const Program program = network();
  const Counts counts = count(program, emit::example_vectors(program));
  INFO(counts.shown << " shown, " << counts.missed << " missed");
  CHECK(counts.shown > 300);
  CHECK(100 * counts.missed <= counts.shown + counts.missed);
  // Eight random frames, as a bench would be given by hand, miss many.
  emit::Vectors few;
  few.frames = 8;
  few.inputs = emit::varied_frames(program, few.frames, 0);
  few.outputs = Interpreter(program).run(few.inputs, few.frames);
  CHECK(count(program, few).missed > 5 * counts.missed);
}

TEST_CASE("the widest sums of the first layer reach both of their ends") {
  const Program program = network();
  const Step& step = program.steps[0];
  const auto& convolution = std::get<Convolution>(step.operation);
  const emit::Vectors vectors = emit::example_vectors(program);
  // The reach of a row: every input at the end that its weight's sign asks for.
  std::vector<std::pair<Wide, std::int64_t>> reach;
  for (std::int64_t row = 0; row < convolution.outputs; ++row) {
    Wide high = convolution.bias[at(row)];
    for (std::int64_t i = 0; i < convolution.columns(); ++i) {
      const std::int64_t weight = convolution.weight[at(row * convolution.columns() + i)];
      high += weight * (weight > 0 ? 127 : -128);
    }
    reach.emplace_back(high - convolution.bias[at(row)], row);
  }
  const auto [widest, row] = *std::ranges::max_element(reach);
  // Sums of the frames by plain loops; the first output pixel is enough: windows lie side by side.
  Wide most = 0;
  for (std::int64_t frame = 0; frame < vectors.frames; ++frame) {
    Wide sum = 0;
    for (std::int64_t y = 0; y < 3; ++y)
      for (std::int64_t x = 0; x < 3; ++x)
        for (std::int64_t c = 0; c < 2; ++c)
          sum += convolution.weight[at(((row * 3 + y) * 3 + x) * 2 + c)] *
                 vectors.inputs[0][at(((frame * 6 + y) * 6 + x) * 2 + c)];
    most = std::max(most, sum);
  }
  CHECK(static_cast<std::int64_t>(most) == static_cast<std::int64_t>(widest));
}

TEST_CASE("frames are made for windows that leave pixels out") {
  Program cropped = network();
  auto& convolution = std::get<Convolution>(cropped.steps[0].operation);
  convolution.window.y.pad = -2;
  convolution.window.x.pad = -1;
  const std::vector<Codes> frames = emit::varied_frames(cropped, 12, 0);
  REQUIRE(frames.size() == 1);
  CHECK(frames[0].size() == 12 * 72);
  CHECK(std::ranges::all_of(frames[0],
                            [](std::int64_t code) { return code >= -128 && code <= 127; }));
}

TEST_CASE("a network that hands its input on has vectors too") {
  const Program program = lower(ir::parse(R"(graph "net" {
  %x : float32[2, 3] = placeholder x {data_out=integer(8, 4)}
  %output : float32[2, 3] = output output(value=%x)
}
)",
                                          "test"));
  REQUIRE(program.steps.empty());
  const emit::Vectors vectors = emit::example_vectors(program);
  CHECK(vectors.frames > 0);
  CHECK(vectors.outputs == vectors.inputs);
}

TEST_CASE("products of two streams count as work of a frame") {
  // 256^3 products a frame: two thousand million are 119 frames, below 16 times the 8 at hand.
  const Program program = lower(ir::parse(R"(graph "net" {
  %x : float32[2, 256, 256] = placeholder x
  %y : float32[2, 256, 256] = placeholder y
  %matmul : float32[2, 256, 256] = call_function torch.matmul aten::matmul(self=%x, other=%y) {data_in=integer(8, 4), weight=integer(8, 4)}
  %tanh : float32[2, 256, 256] = call_function torch.tanh aten::tanh(self=%matmul) {data_in=integer(12, 5), data_out=integer(8, 7)}
  %output : float32[2, 256, 256] = output output(value=%tanh)
}
)",
                                          "test"));
  CHECK(ConstantBits(program).count() > 0);
  CHECK(emit::example_vectors(program).frames == 8);
}
