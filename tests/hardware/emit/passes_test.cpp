// SPDX-License-Identifier: Apache-2.0
// From a network in floats to simulated hardware through the passes.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "base/file.hpp"
#include "base/process.hpp"
#include "base/random.hpp"
#include "hardware/design/add_hardware_metadata.hpp"
#include "hardware/design/design_of.hpp"
#include "hardware/emit/emit.hpp"
#include "hardware/emit/passes.hpp"
#include "hardware/emit/simulate.hpp"
#include "hardware/emit/vectors.hpp"
#include "hardware/integer/interpreter.hpp"
#include "ir/text.hpp"
#include "models/registry.hpp"
#include "passes/runner.hpp"
#include "passes/transform/fuse_batch_norm.hpp"
#include "passes/transform/quantize.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

using namespace mase;
using namespace mase::emit;

namespace {

constexpr const char* kFormats = R"({
  "by": "type",
  "batch_norm1d": {"config": {"name": "integer", "data_in_width": 8, "data_in_frac_width": 5,
    "weight_width": 8, "weight_frac_width": 5, "bias_width": 8, "bias_frac_width": 5}},
  "linear": {"config": {"name": "integer", "data_in_width": 8, "data_in_frac_width": 5,
    "data_in_is_signed": false, "weight_width": 6, "weight_frac_width": 5,
    "bias_width": 8, "bias_frac_width": 6}},
  "relu": {"config": {"name": "integer", "data_in_width": 8, "data_in_frac_width": 4}}})";

passes::PassTable table() {
  return {passes::describe<passes::FuseBatchNorm>(),
          passes::describe<passes::Quantize>(),
          passes::describe<design::AddHardwareMetadata>(),
          passes::describe<EmitVerilogTop>(),
          passes::describe<EmitInternalRtl>(),
          passes::describe<EmitBram>(),
          passes::describe<EmitVerilogTb>()};
}

passes::PassCall call(const std::string& name, const std::string& options = "{}") {
  return {name, parse_json(options, name), {}};
}

/// Runs the passes, then those that emit into `folder`.
void emit_into(const std::string& folder, ir::Graph& graph, std::vector<passes::PassCall> calls,
               const std::string& target, const std::string& options) {
  for (passes::PassCall& last :
       std::vector{call("add_hardware_metadata", target), call("emit_verilog_top", options),
                   call("emit_internal_rtl"), call("emit_bram"), call("emit_verilog_tb")})
    calls.push_back(std::move(last));
  passes::PassContext context;
  context.hardware_folder = folder;
  passes::run_passes(graph, calls, table(), context, {});
}

/// jsc-tiny, 8-bit data and 6-bit weights, emitted into `folder`.
ir::Graph emit_tiny(const std::string& folder, const std::string& target,
                    const std::string& options) {
  ir::Graph graph = models::find_model("jsc-tiny")->build({16}, 5, 1);
  emit_into(folder, graph, {call("fuse_batch_norm"), call("quantize", kFormats)}, target, options);
  return graph;
}

/// Position constants on an image, then division by three, then by what was divided.
constexpr const char* kPositions = R"(graph "positions" {
  tensor position : float32[2, 3, 4] parameter
  %x : float32[1, 2, 3, 4] = placeholder x {data_out=integer(8, 4)}
  %position : float32[2, 3, 4] = get_attr position
  %shifted : float32[1, 2, 3, 4] = call_function _operator.add aten::add.Tensor(self=%x, other=%position) {data_in=integer(8, 4), data_out=integer(8, 4)}
  %third : float32[1, 2, 3, 4] = call_function _operator.truediv aten::div.Scalar(self=%shifted, other=3) {data_out=integer(8, 5)}
  %ratio : float32[1, 2, 3, 4] = call_function _operator.truediv aten::div.Tensor(self=%third, other=%shifted) {data_out=integer(8, 5)}
  %output : float32[1, 2, 3, 4] = output output(value=%ratio)
})";

/// A grouped convolution, then a depthwise one.
constexpr const char* kGroups = R"(graph "groups" {
  module first : torch.nn.modules.conv.Conv2d = aten::conv2d(stride=[1, 1], padding=[1, 1], dilation=[1, 1], groups=2) [weight=@first.weight, bias=@first.bias]
  module second : torch.nn.modules.conv.Conv2d = aten::conv2d(stride=[1, 1], padding=[2, 2], dilation=[2, 2], groups=4) [weight=@second.weight, bias=@second.bias]
  tensor first.weight : float32[4, 2, 3, 3] parameter
  tensor first.bias : float32[4] parameter
  tensor second.weight : float32[8, 1, 3, 3] parameter
  tensor second.bias : float32[8] parameter
  %x : float32[1, 4, 6, 5] = placeholder x
  %first : float32[1, 4, 6, 5] = call_module first aten::conv2d(input=%x) {bias=integer(8, 5), data_in=integer(8, 4), weight=integer(6, 5)}
  %second : float32[1, 8, 6, 5] = call_module second aten::conv2d(input=%first) {bias=integer(8, 5), data_in=integer(8, 4), weight=integer(6, 5)}
  %output : float32[1, 8, 6, 5] = output output(value=%second)
})";

/// Products of numbers of fp8_e5m2, and squares of them: exact in more bits than 62.
constexpr const char* kWideProducts = R"(graph "products" {
  %x : float32[1, 3, 4] = placeholder x {data_out=fp8_e5m2()}
  %y : float32[1, 4, 2] = placeholder y {data_out=fp8_e5m2()}
  %product : float32[1, 3, 2] = call_function torch.matmul aten::matmul(self=%x, other=%y) {data_out=fp8_e5m2()}
  %square : float32[1, 3, 2] = call_function _operator.mul aten::mul.Tensor(self=%product, other=%product) {data_out=fp8_e5m2()}
  %output : float32[1, 3, 2] = output output(value=%square)
})";

/// Layers whose weights in fp8_e5m2 have all its exponents: exact in more bits than 62, too.
constexpr const char* kWideLayers = R"(graph "layers" {
  module first : torch.nn.modules.conv.Conv2d = aten::conv2d(stride=[1, 1], padding=[1, 1], dilation=[1, 1], groups=2) [weight=@first.weight, bias=@first.bias]
  module second : torch.nn.modules.conv.Conv2d = aten::conv2d(stride=[1, 1], padding=[1, 1], dilation=[1, 1], groups=4) [weight=@second.weight]
  module third : torch.nn.modules.linear.Linear = aten::linear() [weight=@third.weight, bias=@third.bias]
  tensor first.weight : float32[4, 2, 3, 3] parameter
  tensor first.bias : float32[4] parameter
  tensor second.weight : float32[4, 1, 3, 3] parameter
  tensor third.weight : float32[3, 5] parameter
  tensor third.bias : float32[3] parameter
  tensor scale : float32[4, 4, 3] parameter
  %x : float32[1, 4, 4, 5] = placeholder x
  %scale : float32[4, 4, 3] = get_attr scale
  %first : float32[1, 4, 4, 5] = call_module first aten::conv2d(input=%x) {bias=fp8_e5m2(), data_in=fp8_e5m2(), weight=fp8_e5m2()}
  %second : float32[1, 4, 4, 5] = call_module second aten::conv2d(input=%first) {data_in=fp8_e5m2(), weight=fp8_e5m2()}
  %third : float32[1, 4, 4, 3] = call_module third aten::linear(input=%second) {bias=fp8_e5m2(), data_in=fp8_e5m2(), data_out=fp8_e5m2(), weight=fp8_e5m2()}
  %scaled : float32[1, 4, 4, 3] = call_function _operator.mul aten::mul.Tensor(self=%third, other=%scale) {data_in=fp8_e5m2(), data_out=fp8_e5m2()}
  %output : float32[1, 4, 4, 3] = output output(value=%scaled)
})";

ir::Graph wide_layers() {
  ir::Graph graph = ir::parse(kWideLayers, "layers");
  int i = 0;
  for (auto& [name, tensor] : graph.tensors) {
    const Shape& shape = tensor.value.shape();
    std::vector<float> values;
    for (std::int64_t n = numel(shape); n > 0; --n, ++i)
      values.push_back(std::ldexp(i % 3 == 0 ? -1.0f : 1.0f, i * 7 % 31 - 16));
    tensor.value = Array::from(values, shape);
  }
  return graph;
}

ir::Graph groups_graph() {
  ir::Graph graph = ir::parse(kGroups, "groups");
  int i = 0;
  for (const auto& [name, shape] :
       std::vector<std::pair<std::string, Shape>>{{"first.weight", {4, 2, 3, 3}},
                                                  {"first.bias", {4}},
                                                  {"second.weight", {8, 1, 3, 3}},
                                                  {"second.bias", {8}}}) {
    std::vector<float> values;
    for (std::int64_t n = numel(shape); n > 0; --n)
      values.push_back(static_cast<float>(i++ * 37 % 64) / 32 - 1);
    graph.tensors.at(name).value = Array::from(values, shape);
  }
  return graph;
}

Vectors random_vectors(const integer::Program& program, std::int64_t frames) {
  Random random(3);
  Vectors vectors;
  vectors.frames = frames;
  const integer::StreamValue& input = program.value(program.inputs.front());
  vectors.inputs.resize(1);
  for (std::int64_t i = 0; i < frames * input.elements(); ++i)
    vectors.inputs[0].push_back(static_cast<std::int64_t>(input.type.low()) +
                                static_cast<std::int64_t>(random.below(256)));
  vectors.outputs = integer::Interpreter(program).run(vectors.inputs, frames);
  return vectors;
}

}  // namespace

TEST_CASE("the four passes write a folder that simulates bit-exactly in the predicted cycles") {
  const test::TemporaryFolder folder;
  const ir::Graph graph = emit_tiny(folder.path(), R"({"initiation_interval": 16})",
                                    R"({"top_name": "tagger", "clock_mhz": 150})");
  design::Design design = design::design_of(graph);
  design.name = "tagger";
  EmitOptions options;
  options.clock_mhz = 150;
  for (const auto& [name, content] : all_files(design, options)) {
    INFO(name);
    CHECK(read_file(folder.file(name)) == content);
  }
  CHECK_FALSE(read_file(folder.file("graph.txt")).empty());

  const Vectors vectors = random_vectors(*design.program, 50);
  SimulateOptions run;
  run.optimise = 0;
  const Simulation plain = simulate(folder.path(), design, vectors, run);
  CHECK(plain.passed());
  CHECK(plain.latency_first == design.timing.first);
  CHECK(plain.latency_last == design.timing.last);
  CHECK(plain.interval == design.timing.interval);
  CHECK(plain.interval <= 16);
  run.stall_in = run.stall_out = 0.4;
  CHECK(simulate(folder.path(), design, vectors, run).passed());
  for (const design::Memory& memory : design.memories) {
    INFO(memory.file);
    SimulateOptions broken;
    broken.optimise = 0;
    broken.fault = emit::Fault{memory.file, 0, memory.word_bits - 1};
    CHECK_FALSE(simulate(folder.path(), design, vectors, broken).passed());
  }

  // The folder's own Makefile and vectors do without mase.
  const ProcessResult made = run_process({"make", "sim"}, {folder.path(), 3600, {}});
  INFO(made.err);
  CHECK(made.status == 0);
  const std::int64_t frames = example_vectors(*design.program).frames;
  CHECK(frames >= 100);
  CHECK(made.out.find("PASS: " + std::to_string(frames) + " frames") != std::string::npos);
}

TEST_CASE(
    "constants for each element, a division and a quotient of streams are exact in hardware") {
  ir::Graph graph = ir::parse(kPositions, "positions");
  std::vector<float> position;
  for (int i = 0; i < 24; ++i) position.push_back(static_cast<float>(i * i % 17) / 16 - 0.5F);
  graph.tensors.at("position").value = Array::from(position, {2, 3, 4});
  for (const int interval : {24, 12}) {
    const test::TemporaryFolder folder;
    ir::Graph made = graph;
    emit_into(folder.path(), made, {},
              "{\"initiation_interval\": " + std::to_string(interval) + "}", "{}");
    const design::Design design = design::design_of(made);
    SimulateOptions run;
    run.optimise = 0;
    run.stall_in = run.stall_out = 0.3;
    CHECK(simulate(folder.path(), design, random_vectors(*design.program, 20), run).passed());
  }
}

void check_wide_sums(ir::Graph graph, int sums, const std::string& interval) {
  const test::TemporaryFolder folder;
  emit_into(folder.path(), graph, {}, "{\"initiation_interval\": " + interval + "}", "{}");
  const design::Design design = design::design_of(graph);
  const auto is_wide = [](const integer::StreamValue& value) {
    return value.type.width > integer::stream_bits;
  };
  CHECK(std::ranges::count_if(design.program->values, is_wide) == sums);
  const Vectors vectors = example_vectors(*design.program);
  SimulateOptions run;
  run.optimise = 0;
  const Simulation plain = simulate(folder.path(), design, vectors, run);
  CHECK(plain.passed());
  CHECK(plain.interval == design.timing.interval);
  run.stall_in = run.stall_out = 0.4;
  CHECK(simulate(folder.path(), design, vectors, run).passed());
}

TEST_CASE("products and sums of more than 62 bits are exact in hardware") {
  check_wide_sums(ir::parse(kWideProducts, "products"), 2, "24");
}

TEST_CASE("sums of layers of more than 62 bits are exact in hardware") {
  const std::string interval = GENERATE("1200", "80");
  check_wide_sums(wide_layers(), 4, interval);
}

TEST_CASE(
    "groups side by side behind parallel windows are exact, and a last frame is no interval") {
  // The second layer gets a pixel every second cycle at most, and its last 12 windows of 30 wait
  // for pixels of the next frame; when none follows they leave one per cycle.
  for (const std::string layers : {R"("first": {"simd": 18, "pe": 2, "parallel_window": true},
           "second": {"simd": 9, "pe": 8, "parallel_window": true})",
                                   R"("first": {"simd": 6, "pe": 4, "parallel_window": true},
           "second": {"simd": 3, "pe": 2, "parallel_window": true})"}) {
    const test::TemporaryFolder folder;
    ir::Graph graph = groups_graph();
    emit_into(folder.path(), graph, {}, "{\"layers\": {" + layers + "}}", "{}");
    const design::Design design = design::design_of(graph);
    const Vectors vectors = random_vectors(*design.program, 12);
    SimulateOptions run;
    run.optimise = 0;
    const Simulation plain = simulate(folder.path(), design, vectors, run);
    CHECK(plain.passed());
    CHECK(plain.latency_first == design.timing.first);
    CHECK(plain.latency_last == design.timing.last);
    CHECK(plain.interval == design.timing.interval);
    run.stall_in = run.stall_out = 0.4;
    CHECK(simulate(folder.path(), design, vectors, run).passed());
  }
}

TEST_CASE("emitting another design into the folder removes what only the first one had") {
  const test::TemporaryFolder folder;
  emit_tiny(folder.path(), R"({"initiation_interval": 16})", R"({"top_name": "first"})");
  write_file(folder.file("rtl/mine.sv"), "// kept\n");
  emit_tiny(folder.path(), R"({"initiation_interval": 16})", R"({"top_name": "second"})");
  CHECK(file_exists(folder.file("rtl/second.sv")));
  CHECK_FALSE(file_exists(folder.file("rtl/first.sv")));
  CHECK_FALSE(file_exists(folder.file("vivado/first.xdc")));
  CHECK(file_exists(folder.file("rtl/mine.sv")));
}

TEST_CASE("the passes need a folder to write to") {
  const std::string message = test::message_of(
      mase::Fault::config, [] { emit_tiny("", R"({"initiation_interval": 16})", "{}"); });
  CHECK(message.find("there is no hardware folder to write to") != std::string::npos);
}
