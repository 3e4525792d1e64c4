// SPDX-License-Identifier: Apache-2.0
// Inputs that are rounded to formats with blocks before they come: their codes are what the format
// makes of a batch, and readers take them as they are.
#include <catch2/catch.hpp>
#include <cmath>

#include "base/text.hpp"
#include "hardware/integer/interpreter.hpp"
#include "sketch.hpp"
#include "support/message_of.hpp"

using namespace mase;
using namespace mase::test;

namespace {

Formats layer(const std::string& data) {
  return {{"data_in", data}, {"weight", "integer(6, 4)"}, {"bias", "integer(8, 5)"}};
}

/// Two layers that read an input of 2 x 3 x 20 numbers.
ir::Graph two_layers(const std::string& first, const std::string& second) {
  Sketch sketch(3);
  const auto x = sketch.input({2, 3, 20});
  const auto a = sketch.linear(x, 4, layer(first)), b = sketch.linear(x, 4, layer(second));
  return sketch.finish(
      sketch.call("aten::add.Tensor", {{"self", ref(a)}, {"other", ref(b)}}, {2, 3, 4}));
}

/// Rows of blocks of very different magnitudes, zeros among them.
Array blocks_of_magnitudes(const Shape& shape) {
  Random random(4);
  Array numbers(DType::float32, shape);
  int place = 0;
  for (float& number : numbers.mutable_span<float>()) {
    const int exponent = place++ / 5 % 24 - 12;
    number = random.below(5) == 0 ? 0.0F
                                  : std::ldexp(static_cast<float>(random.uniform(-1, 1)), exponent);
  }
  return numbers;
}

}  // namespace

TEST_CASE("an input takes the format with blocks that all its readers ask for") {
  for (const std::string text :
       {"mxint8(block_size=8, scale_bits=4)", "mxfp4(block_size=16, scale_bits=5)",
        "mxfp8_e4m3(block_size=4, scale_bits=4, scale_rule=ceil)",
        "block_fp(8, 4, block_size=[1, 8], skip_first_dim=true)",
        "block_minifloat(8, 3, 4, block_size=[1, 4], skip_first_dim=true)",
        "block_log(5, 4, block_size=[2, 8], skip_first_dim=true)", "mxint_hardware(8, 4, [1, 4])",
        "mxint8(block_size=2, block_dim=1, scale_bits=4)", "nvfp4(block_size=8, tensor_scale=none)",
        "nvfp4(block_size=4, tensor_scale=0.00048828125)"}) {
    INFO(text);
    const formats::Format format = formats::parse_format(text);
    const integer::Program program = integer::lower(two_layers(text, text));
    CHECK(program.steps.size() == 3);
    CHECK(integer::program_text(program).find(" in " + format.text()) != std::string::npos);
    const Array batch = blocks_of_magnitudes({7, 3, 20});
    std::vector<float> wanted(batch.span<float>().size());
    format.quantize(batch.span<float>(), wanted, batch.shape());
    const integer::Codes codes = integer::encode_input(program, 0, batch);
    const integer::FixedType type = program.value(program.inputs[0]).type;
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < codes.size(); ++i) {
      wrong +=
          std::ldexp(static_cast<double>(codes[i]), -type.frac) != static_cast<double>(wanted[i]);
      wrong += codes[i] < type.low() || codes[i] > type.high();
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("an input without one format for all its readers is refused with what they ask for") {
  const std::string message = message_of(Fault::unsupported, [] {
    integer::lower(two_layers("mxint8(block_size=8, scale_bits=4)", "integer(8, 4)"));
  });
  INFO(message);
  CHECK(message.find("asks for mxint8(block_size=8, scale_bits=4), ") != std::string::npos);
  CHECK(message.find(" for integer(8, 4)") != std::string::npos);
}

TEST_CASE("exponents that make an input too wide are refused with fewer that do not") {
  const auto refusal = [](const std::string& text) {
    return message_of(Fault::unsupported, [&] { integer::lower(two_layers(text, text)); });
  };
  // 8 bits at exponents -127 to 127; 5 bits of them are -15 to 15.
  CHECK(refusal("mxint8()")
            .find("needs 262 bits as fixed point over all its exponents, more than "
                  "the 62 of a stream; exponent_min = \"auto\" and exponent_max = \"auto\" in pass "
                  "quantize keep those that data have; scale_bits = 5 needs 38") !=
        std::string::npos);
  CHECK(
      refusal("mxint8(exponent_min=-60, exponent_max=10)").find("; exponent_min = -44 needs 62") !=
      std::string::npos);
  CHECK(refusal("block_fp(8, 8, block_size=[1, 16], skip_first_dim=true)")
            .find("exponent_width = 5 needs 39") != std::string::npos);
  CHECK(refusal("block_minifloat(8, 4, 6, block_size=[1, 16], skip_first_dim=true)")
            .find("exponent_bias_width = ") != std::string::npos);
  CHECK(refusal("mxint8()").find("asks for") == std::string::npos);
}

TEST_CASE("infinite numbers of an input with blocks are refused") {
  const integer::Program program = integer::lower(
      two_layers("mxint8(block_size=8, scale_bits=4)", "mxint8(block_size=8, scale_bits=4)"));
  Array batch(DType::float32, {1, 3, 20});
  batch.mutable_span<float>()[5] = -HUGE_VALF;
  CHECK(message_of(Fault::file, [&] {
          integer::encode_input(program, 0, batch);
        }).find("element 5 is infinite") != std::string::npos);
}

TEST_CASE("blocks lie where the shape of their reader has them, and views share no steps") {
  // The same numbers as rows of 6 and of 12: blocks of 4 end at other places.
  const std::string text = "mxint8(block_size=4, scale_bits=4)";
  Sketch sketch(5);
  const auto x = sketch.input({2, 6, 6}, {{"data_out", "integer(8, 4)"}});
  const auto view =
      sketch.call("aten::reshape", {{"self", ref(x)}, {"shape", list({2, 3, 12})}}, {2, 3, 12});
  const auto a = sketch.relu(x, {{"data_in", text}}), b = sketch.relu(view, {{"data_in", text}});
  const integer::Program program = integer::lower(sketch.finish(ir::Value::list({ref(a), ref(b)})));
  int peaks = 0;
  for (const integer::Step& step : program.steps)
    peaks += std::holds_alternative<integer::RowReduce>(step.operation) ? 1 : 0;
  CHECK(peaks == 2);
}
