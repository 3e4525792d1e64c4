// SPDX-License-Identifier: Apache-2.0
// A network in formats with blocks in simulation: an input that comes in blocks, blocks along
// channels and along a line, a fraction, elements that are whole numbers and such that are not;
// layers that multiply codes of elements.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "base/random.hpp"
#include "designs.hpp"
#include "hardware/design/folding/choose_folding.hpp"
#include "hardware/design/modules/linear.hpp"
#include "hardware/integer/interpreter.hpp"
#include "ir/text.hpp"
#include "support/temporary_folder.hpp"

using namespace mase;

namespace {

constexpr const char* network = R"(graph "blocks" {
  module conv : torch.nn.modules.conv.Conv2d = aten::conv2d() [weight=@conv.weight, bias=@conv.bias]
  module fc : torch.nn.modules.linear.Linear = aten::linear() [weight=@fc.weight]
  tensor conv.weight : float32[6, 4, 2, 2] parameter grad
  tensor conv.bias : float32[6] parameter grad
  tensor fc.weight : float32[5, 6] parameter grad
  %x : float32[2, 4, 4, 4] = placeholder x
  %conv : float32[2, 6, 3, 3] = call_module conv aten::conv2d(input=%x) {bias=integer(8, 5), data_in=mxint8(block_size=4, block_dim=1, scale_bits=4), weight=mxint4(block_size=4, block_dim=1, scale_bits=4), data_out=mxfp4(block_size=3, block_dim=1, scale_bits=4)}
  %mean : float32[2, 6] = call_function torch.mean aten::mean.dim(self=%conv, dim=[2, 3])
  %fc : float32[2, 5] = call_module fc aten::linear(input=%mean) {data_in=mxint8(block_size=3, scale_bits=4), weight=mxfp4(block_size=6, scale_bits=4)}
  %output : float32[2, 5] = output output(value=%fc)
}
)";

constexpr const char* layers = R"(graph "codes" {
  module conv : torch.nn.modules.conv.Conv2d = aten::conv2d(padding=[1, 1]) [weight=@conv.weight, bias=@conv.bias]
  module fc : torch.nn.modules.linear.Linear = aten::linear() [weight=@fc.weight]
  tensor conv.weight : float32[6, 4, 3, 3] parameter grad
  tensor conv.bias : float32[6] parameter grad
  tensor fc.weight : float32[5, 6] parameter grad
  %x : float32[2, 4, 4, 4] = placeholder x {data_out=integer(10, 4)}
  %conv : float32[2, 6, 4, 4] = call_module conv aten::conv2d(input=%x) {bias=integer(8, 5), data_in=mxfp8_e4m3(block_size=4, block_dim=1, scale_bits=4), weight=mxfp6_e3m2(block_size=4, block_dim=1, scale_bits=4)}
  %mean : float32[2, 6] = call_function torch.mean aten::mean.dim(self=%conv, dim=[2, 3])
  %fc : float32[2, 5] = call_module fc aten::linear(input=%mean) {data_in=mxfp4(block_size=6, scale_bits=4), weight=mxfp4(block_size=3, scale_bits=4)}
  %output : float32[2, 5] = output output(value=%fc)
}
)";

constexpr const char* mantissas = R"(graph "mantissas" {
  module conv : torch.nn.modules.conv.Conv2d = aten::conv2d(padding=[1, 1]) [weight=@conv.weight, bias=@conv.bias]
  module fc : torch.nn.modules.linear.Linear = aten::linear() [weight=@fc.weight]
  tensor conv.weight : float32[6, 4, 3, 3] parameter grad
  tensor conv.bias : float32[6] parameter grad
  tensor fc.weight : float32[5, 6] parameter grad
  %x : float32[2, 4, 4, 4] = placeholder x
  %conv : float32[2, 6, 4, 4] = call_module conv aten::conv2d(input=%x) {bias=integer(8, 5), data_in=nvfp4(block_size=4, block_dim=1, tensor_scale=0.03125), weight=nvfp4(block_size=4, block_dim=1), data_out=integer(12, 7)}
  %mean : float32[2, 6] = call_function torch.mean aten::mean.dim(self=%conv, dim=[2, 3])
  %fc : float32[2, 5] = call_module fc aten::linear(input=%mean) {data_in=nvfp4(block_size=3, tensor_scale=none), weight=nvfp4(block_size=6, tensor_scale=none)}
  %output : float32[2, 5] = output output(value=%fc)
}
)";

integer::Program program_of(const char* text) {
  ir::Graph graph = ir::parse(text, "test");
  Random random(3);
  for (auto& [path, tensor] : graph.tensors)
    for (float& value : tensor.value.mutable_span<float>())
      value = static_cast<float>(random.uniform(-0.9, 0.9));
  return integer::lower(graph);
}

/// Frames of one magnitude each, from far below to far above the exponents, with zeros, with one
/// number far above the others, and of largest numbers.
Array frames_of_magnitudes(std::int64_t frames) {
  Random random(5);
  Array batch(DType::float32, {frames, 4, 4, 4});
  std::int64_t place = 0;
  for (float& number : batch.mutable_span<float>()) {
    const std::int64_t frame = place / 64, kind = place++ % 64;
    number = static_cast<float>(std::ldexp(random.uniform(-1, 1), static_cast<int>(frame) - 14));
    if (frame % 4 == 1 && kind % 3 != 0) number = 0;
    if (frame % 4 == 2) number = kind == 5 ? -1 : number / 256;
    if (frame % 8 == 3) number = kind % 2 == 0 ? 3e38F : -3e38F;
  }
  return batch;
}

/// Its design, at one frame in 144 cycles.
design::Design check_simulated(const integer::Program& lowered) {
  const auto program = std::make_shared<const integer::Program>(lowered);
  const test::TemporaryFolder folder;
  emit::Vectors vectors;
  vectors.frames = 32;
  vectors.inputs = {integer::encode_input(*program, 0, frames_of_magnitudes(vectors.frames))};
  vectors.outputs = integer::Interpreter(*program).run(vectors.inputs, vectors.frames);
  design::Target target;
  target.initiation_interval = 144;
  design::Design design = design::build_for(program, target);
  emit::write_files(folder.path(), emit::all_files(design, {}));
  emit::SimulateOptions options;
  options.optimise = 0;
  options.stall_in = options.stall_out = 0.3;
  const emit::Simulation simulation = emit::simulate(folder.path(), design, vectors, options);
  INFO(integer::program_text(*program));
  CHECK(simulation.mismatches == 0);
  CHECK(simulation.passed());
  return design;
}

}  // namespace

TEST_CASE("a network in formats with blocks computes its integers in simulation") {
  check_simulated(program_of(network));
}

TEST_CASE("a network whose blocks have scales with mantissas computes its integers in simulation") {
  check_simulated(program_of(mantissas));
}

TEST_CASE("layers in simulation multiply codes of the elements of blocks") {
  const integer::Program program = program_of(layers);
  std::vector<int> widths;  // of codes that products read
  for (const integer::Step& step : program.steps)
    if (integer::blocks_of(step.operation))
      widths.push_back(program.value(step.inputs[0]).code.value().width);
  CHECK(widths == std::vector<int>{8, 4});
  // Elements of mxfp4 weights stand under powers of two of their own.
  const design::Design design = check_simulated(program);
  const auto fc = std::ranges::find(design.instances, "fc", &design::Instance::name);
  REQUIRE(fc != design.instances.end());
  const auto module = design::module_of<design::LinearModule>(*fc);
  CHECK(module.weight_bits <= 4);
  CHECK(module.weight_exponent.has_value());
}
