// SPDX-License-Identifier: Apache-2.0
// Weights whose format has a float32 scale for each channel, or for all: codes in the matrix,
// scales behind the sums.
#include <catch2/catch.hpp>
#include <ranges>

#include "hardware/integer/interpreter.hpp"
#include "sketch.hpp"
#include "support/message_of.hpp"

using namespace mase;
using namespace mase::test;
using ir::Value;

namespace {

const std::vector<std::string> scaled_formats{
    "scale_integer(8)",    "scale_integer(4)",
    "binary(scaled=true)", "ternary(scaling_factor=true, threshold=0.5)",
    "nvfp4(block_size=4)", "nvfp4(tensor_scale=0.0123, block_dim=0)"};

ir::Graph linear(const std::string& weight, const std::string& out, bool bias,
                 const std::string& data = "integer(8, 4)") {
  Sketch sketch;
  const auto x = sketch.input({2, 3, 13}, {{"data_out", data}});
  Formats formats{{"weight", weight}};
  if (bias) formats.emplace_back("bias", "integer(8, 6)");
  if (!out.empty()) formats.emplace_back("data_out", out);
  return sketch.finish(sketch.linear(x, 6, formats, 1.3, bias));
}

ir::Graph convolution(const std::string& weight, std::int64_t groups) {
  Sketch sketch;
  const auto x = sketch.input({2, 4, 6, 5}, {{"data_out", "integer(6, 3)"}});
  return sketch.finish(sketch.layer(
      "conv.Conv2d", "aten::conv2d", x, {{"padding", list({1, 1})}, {"groups", Value(groups)}},
      {{"weight", {4, 4 / groups, 3, 3}}, {"bias", {4}}}, {2, 4, 6, 5},
      {{"weight", weight}, {"bias", "integer(8, 5)"}, {"data_out", "integer(9, 3)"}}));
}

/// The bits of the weights of the first matrix of a program.
int weight_bits(const integer::Program& program) {
  for (const integer::Step& step : program.steps)
    if (const auto matrix = integer::constant_matrix(step.operation))
      return matrix->weight_type.width;
  return 0;
}

}  // namespace

TEST_CASE("products with codes and scales behind them equal the reference") {
  for (const std::string& weight : scaled_formats)
    for (const std::string out : {"", "integer(8, 3)", "fp8_e4m3()", "integer_floor(12, 9)"})
      for (const bool bias : {false, true}) {
        INFO(weight << " to " << out);
        check_against_reference(linear(weight, out, bias), 6);
        if (!out.empty()) check_against_reference(linear(weight, out, bias, "fp6_e3m2()"), 6);
      }
  for (const std::string& weight : scaled_formats | std::views::drop(2))
    for (const std::int64_t groups : {1, 4}) {
      INFO(weight << " in " << groups << " groups");
      check_against_reference(convolution(weight, groups), 4);
    }
}

TEST_CASE("the matrix has the codes of the format") {
  CHECK(weight_bits(integer::lower(linear("scale_integer(8)", "", true))) == 8);
  CHECK(weight_bits(integer::lower(linear("scale_integer(4)", "", true))) == 4);
  CHECK(weight_bits(integer::lower(linear("binary(scaled=true)", "", true))) == 2);
  CHECK(weight_bits(integer::lower(linear("binary(bipolar=false)", "", true))) == 1);
}

TEST_CASE("a scale of the tensor that is a power of two moves the binary point") {
  // Codes are e2m1 elements, of 5 bits, times scales of e4m3 that lie close to each other.
  CHECK(weight_bits(integer::lower(linear("nvfp4()", "", true))) <= 14);
  const auto steps = [](const std::string& scale) {
    const std::string weight = "nvfp4(tensor_scale=" + scale + ")";
    return integer::lower(linear(weight, "integer(8, 3)", true)).steps.size();
  };
  CHECK(steps("none") == 1);
  CHECK(steps("0.25") == 1);
  CHECK(steps("0.3") == 2);
  for (const char* scale : {"none", "0.0078125"})
    check_against_reference(
        linear("nvfp4(tensor_scale=" + std::string(scale) + ")", "integer(8, 3)", true), 6);
}

TEST_CASE("rows of more than a channel's, data and other checkpoints need another format") {
  using Catch::Contains;
  const auto refusal = [](const ir::Graph& graph,
                          integer::Contents contents = integer::Contents::fixed) {
    return message_of(Fault::unsupported, [&] { integer::lower(graph, contents); });
  };
  CHECK_THAT(refusal(linear("integer(8, 6)", "", false, "scale_integer(8)")),
             Contains("only for weights of linear layers") && Contains("'integer'"));
  CHECK_THAT(refusal(linear("scale_integer(8)", "", false), integer::Contents::reloadable),
             Contains("only for weights of linear layers"));
  CHECK_THAT(refusal(convolution("scale_integer(8)", 1)), Contains("'integer'"));
}
