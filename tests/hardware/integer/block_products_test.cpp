// SPDX-License-Identifier: Apache-2.0
// Layers whose inputs and weights come in blocks against sums of what their formats make of floats.
#include <algorithm>
#include <catch2/catch.hpp>

#include "hardware/integer/interpreter.hpp"
#include "sketch.hpp"

using namespace mase;
using namespace mase::test;
using integer::Program;

namespace {

Array in_format(Array values, const std::string& format) {
  formats::parse_format(format).quantize(values.span<float>(), values.mutable_span<float>(),
                                         values.shape());
  return values;
}

/// An input of 12 bits that a layer of `outputs` without bias reads in blocks.
struct Layer {
  std::int64_t inputs, outputs;
  std::string data, weight;
  int code_bits = 0;  ///< of an element that the layer reads as a short code; 0: it reads numbers
};

Program lowered(const Layer& layer, Array& weights) {
  Sketch sketch;
  const auto x = sketch.input({2, layer.inputs}, {{"data_out", "integer(12, 8)"}});
  const auto y = sketch.linear(x, layer.outputs,
                               {{"data_in", layer.data}, {"weight", layer.weight}}, 1, false);
  const ir::Graph graph = sketch.finish(y);
  for (const auto& [name, tensor] : graph.tensors)
    if (tensor.value.shape() == Shape{layer.outputs, layer.inputs}) weights = tensor.value;
  return integer::lower(graph);
}

std::int64_t count_of(const Program& program, const std::string& name) {
  return std::ranges::count_if(program.steps, [&](const integer::Step& step) {
    return integer::operation_name(step.operation) == name;
  });
}

/// Bits of the codes that the last step reads; 0 where it reads numbers.
int code_bits(const Program& program) {
  const auto& code = program.value(program.steps.back().inputs[0]).code;
  return code ? code->width : 0;
}

/// Results that differ from exact sums of the formats' numbers.
std::int64_t wrong_results(const Layer& layer, const Program& program, const Array& weights,
                           std::uint64_t seed) {
  const Array x = random_batch({60, layer.inputs}, 7, seed);
  const std::vector<integer::Codes> codes{integer::encode_input(program, 0, x)};
  const integer::Codes results = integer::Interpreter(program).run(codes, 60).front();
  const Array in = in_format(in_format(x, "integer(12, 8)"), layer.data);
  const Array by = in_format(weights, layer.weight);
  const double unit = std::ldexp(1.0, -program.value(program.outputs[0]).type.frac);
  std::int64_t wrong = 0;
  for (std::int64_t row = 0; row < 60; ++row)
    for (std::int64_t o = 0; o < layer.outputs; ++o) {
      double sum = 0;  // exact: few bits
      for (std::int64_t i = 0; i < layer.inputs; ++i)
        sum += static_cast<double>(in.span<float>()[integer::at(row * layer.inputs + i)]) *
               static_cast<double>(by.span<float>()[integer::at(o * layer.inputs + i)]);
      wrong += static_cast<double>(results[integer::at(row * layer.outputs + o)]) * unit != sum;
    }
  return wrong;
}

}  // namespace

TEST_CASE("layers multiply elements of blocks and shift sums by their exponents") {
  const std::string four = "mxint8(block_size=4, scale_bits=5)";
  std::uint64_t seed = 5;
  for (const Layer& layer :
       {Layer{8, 5, four, four}, Layer{8, 3, "mxfp4(block_size=8)", four, 4},
        Layer{6, 4, "block_fp(6, 5, block_size=[3])", "integer(6, 4)"},
        Layer{8, 2, "mxfp6_e3m2(block_size=4)", "mxfp8_e4m3(block_size=2)", 6},
        Layer{4, 3, "mxfp8_e4m3(block_size=2, scale_bits=4)", "mxfp4(block_size=4)", 8},
        Layer{8, 2, "block_minifloat(8, 3, block_size=[4], skip_first_dim=true)",
              "block_log(5, block_size=[8])", 8},
        Layer{8, 3, "block_log(4, 3, block_size=[4], skip_first_dim=true)", four, 4}}) {
    INFO(layer.data << " x " << layer.weight);
    Array weights;
    const Program program = lowered(layer, weights);
    CHECK(count_of(program, "block_shift_left") == 0);
    CHECK(program.steps.back().inputs.size() == 2);
    CHECK(code_bits(program) == layer.code_bits);
    CHECK(wrong_results(layer, program, weights, ++seed) == 0);
  }
}

TEST_CASE("convolutions take the blocks of their channels") {
  Sketch sketch;
  const auto x = sketch.input({2, 8, 5, 5}, {{"data_out", "integer(12, 8)"}});
  const Formats formats{{"data_in", "mxint8(block_size=4, block_dim=1, scale_bits=5)"},
                        {"weight", "mxint8(block_size=4, block_dim=1, scale_bits=5)"}};
  const auto y = sketch.layer("conv.Conv2d", "aten::conv2d", x, {{"padding", list({1, 1})}},
                              {{"weight", {3, 8, 3, 3}}}, {2, 3, 5, 5}, formats);
  const ir::Graph graph = sketch.finish(y);
  const Program program = integer::lower(graph);
  CHECK(count_of(program, "block_shift_left") == 0);
  CHECK(program.steps.back().inputs.size() == 2);
  check_against_reference(graph, 7);
}

TEST_CASE("blocks that do not fill a layer's rows become numbers first") {
  Array weights;
  const Layer layer{10, 3, "mxint8(block_size=4, scale_bits=5)", "integer(6, 4)"};
  const Program program = lowered(layer, weights);
  CHECK(count_of(program, "block_shift_left") == 1);
  CHECK(program.steps.back().inputs.size() == 1);
  CHECK(wrong_results(layer, program, weights, 11) == 0);
}
