// SPDX-License-Identifier: Apache-2.0
// Biases and batch norms without formats beside codes: numbers that the next rounding adds exactly.
#include <catch2/catch.hpp>

#include "hardware/integer/program.hpp"
#include "sketch.hpp"
#include "support/message_of.hpp"

using namespace mase;
using namespace mase::test;
using ir::Value;

namespace {

ir::Graph linear(const std::string& weight, const std::string& out) {
  Sketch sketch;
  const auto x = sketch.input({2, 3, 13}, {{"data_out", "integer(8, 4)"}});
  Formats formats{{"weight", weight}};
  if (!out.empty()) formats.emplace_back("data_out", out);
  return sketch.finish(sketch.linear(x, 6, formats, 1.3));
}

ir::Graph convolution(const std::string& kind, std::int64_t groups) {
  Sketch sketch;
  const auto x = sketch.input({2, 4, 6, 5}, {{"data_out", "integer(6, 3)"}});
  return sketch.finish(sketch.layer(
      "conv." + kind, kind == "Conv2d" ? "aten::conv2d" : "aten::conv_transpose2d.input", x,
      {{"padding", list({1, 1})}, {"groups", Value(groups)}},
      {{"weight", {4, 4 / groups, 3, 3}}, {"bias", {4}}}, {2, 4, 6, 5},
      {{"weight", "integer(6, 4)"}, {"data_out", "integer(9, 3)"}}));
}

/// A batch norm whose scale and shift are its weight and bias.
ir::Graph norm(const Shape& shape, const std::string& out) {
  Sketch sketch;
  const auto x = sketch.input(shape, {{"data_out", "integer(8, 4)"}});
  const std::string kind = shape.size() == 4 ? "BatchNorm2d" : "BatchNorm1d";
  const auto y =
      sketch.layer("batchnorm." + kind, "aten::batch_norm", x,
                   {{"training", Value(ir::TrainingFlag{})}, {"eps", Value(0.0)}},
                   {{"weight", {5}}, {"bias", {5}}, {"running_mean", {5}}, {"running_var", {5}}},
                   shape, {{"data_out", out}});
  const std::string path = sketch.graph.node(y).target;
  for (const auto& [name, number] : {std::pair(".running_mean", 0.0F), {".running_var", 1.0F}})
    for (float& value : sketch.graph.tensors.at(path + name).value.mutable_span<float>())
      value = number;
  return sketch.finish(y);
}

}  // namespace

TEST_CASE("layers with a float bias equal the reference") {
  for (const std::string weight :
       {"integer(6, 4)",
        "integer(6, 1, granularity=channel, channel_frac_width=[4, 1, 3, 3, 0, 7])", "fp6_e3m2()",
        "binary()", "scale_integer(8)", "mxint8(block_size=4)"})
    for (const std::string out : {"integer(8, 3)", "fp8_e4m3()", "integer_floor(12, 9)"}) {
      INFO(weight << " to " << out);
      check_against_reference(linear(weight, out), 6);
    }
  for (const std::string kind : {"Conv2d", "ConvTranspose2d"})
    for (const std::int64_t groups : {1, 4}) {
      INFO(kind << " in " << groups << " groups");
      check_against_reference(convolution(kind, groups), 4);
    }
}

TEST_CASE("a float bias that is whole codes of the sums is added to them") {
  ir::Graph graph = linear("integer(6, 4)", "");
  CHECK(integer::lower(graph).steps.size() == 2);
  for (auto& [path, tensor] : graph.tensors)
    if (path.ends_with("bias"))
      for (float& value : tensor.value.mutable_span<float>()) value = value < 0 ? -0.75F : 2.5F;
  CHECK(integer::lower(graph).steps.size() == 1);
  check_against_reference(graph, 6);
}

TEST_CASE("batch norms without formats equal the reference") {
  for (const Shape& shape : {Shape{2, 5}, Shape{2, 5, 7}, Shape{2, 5, 3, 4}})
    for (const std::string out : {"integer(8, 3)", "fp8_e4m3()"})
      check_against_reference(norm(shape, out), 12);
}

TEST_CASE("a float bias has no bounds for other checkpoints") {
  const std::string message = message_of(Fault::unsupported, [] {
    integer::lower(linear("integer(6, 4)", "integer(8, 3)"), integer::Contents::reloadable);
  });
  CHECK_THAT(message, Catch::Contains("its bias is still float; give it a format"));
}
