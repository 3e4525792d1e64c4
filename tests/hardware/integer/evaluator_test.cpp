// SPDX-License-Identifier: Apache-2.0
// The evaluator at the integer level: floats in and out, observers, bad inputs.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "hardware/integer/interpreter.hpp"
#include "reference.hpp"
#include "sketch.hpp"
#include "support/message_of.hpp"

using namespace mase;
using namespace mase::test;
using ir::Value;

namespace {

ir::Graph two_results() {
  Sketch sketch(3);
  const auto x = sketch.input({2, 5});
  const auto fc = sketch.linear(x, 4, eight);
  const auto relu = sketch.relu(fc, {{"data_in", "integer(8, 3)"}});
  const auto out = sketch.linear(relu, 3, {{"weight", "integer(6, 4)"}, {"bias", "integer(8, 5)"}});
  return sketch.finish(Value::dict({{"logits", ref(out)}, {"features", ref(relu)}}));
}

}  // namespace

TEST_CASE("results have the keys, shapes and values of the reference") {
  const ir::Graph graph = two_results();
  const auto evaluator = integer::make_evaluator(graph);
  const Array batch = random_batch({300, 5}, 6, 11);
  const ir::Results results = evaluator->run({batch});
  const auto expected = evaluate(graph, {batch});
  REQUIRE(results.size() == 2);
  CHECK(results[0].first == "logits");
  CHECK(results[1].first == "features");
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(results[i].second.shape() == expected[i].shape);
    const auto values = results[i].second.span<float>();
    for (std::size_t j = 0; j < values.size(); ++j)
      CHECK(values[j] == static_cast<float>(expected[i].values[j]));
  }
  CHECK(evaluator->run({batch})[0].second.same_bits(results[0].second));
}

TEST_CASE("the observer sees the nodes that results stand for") {
  const ir::Graph graph = two_results();
  const auto evaluator = integer::make_evaluator(graph);
  std::vector<std::pair<std::string, Shape>> seen;
  evaluator->run({random_batch({7, 5}, 6, 11)},
                 [&](const ir::Node& node, const std::string& port, const Array& value) {
                   CHECK(port == "data_out");
                   seen.emplace_back(node.op, value.shape());
                 });
  const std::vector<std::pair<std::string, Shape>> expected{{"aten::relu", {7, 4}},
                                                            {"aten::linear", {7, 3}}};
  CHECK(seen == expected);
}

TEST_CASE("an empty batch gives an empty result") {
  const auto evaluator = integer::make_evaluator(two_results());
  CHECK(evaluator->run({Array(DType::float32, {0, 5})})[0].second.shape() == Shape{0, 3});
}

TEST_CASE("inputs that do not fit are refused") {
  const auto evaluator = integer::make_evaluator(two_results());
  const auto refusal = [&](const std::vector<Array>& inputs) {
    return message_of(Fault::file, [&] { evaluator->run(inputs); });
  };
  CHECK(refusal({}).find("takes 1 inputs, 0 were given") != std::string::npos);
  CHECK(refusal({Array(DType::float32, {2, 6})}).find("for a batch of [5]") != std::string::npos);
  CHECK(refusal({Array(DType::int64, {2, 5})}).find("takes float32") != std::string::npos);
  CHECK(refusal({Array(DType::float32, Shape{})}).find("number of rows") != std::string::npos);
  Array nan(DType::float32, {1, 5});
  nan.mutable_span<float>()[3] = std::numeric_limits<float>::quiet_NaN();
  CHECK(refusal({nan}).find("element 3 is NaN") != std::string::npos);
}

TEST_CASE("guards on the number of rows are kept, others allow any number") {
  ir::Graph graph = two_results();
  graph.guards = {{"net.py:3", "size(x0, 1) == 5 is true"}};
  CHECK_NOTHROW(integer::make_evaluator(graph)->run({Array(DType::float32, {3, 5})}));
  graph.guards = {{"net.py:4", "size(x0, 0) == 2 is true"}};
  const auto evaluator = integer::make_evaluator(graph);
  CHECK_NOTHROW(evaluator->run({Array(DType::float32, {2, 5})}));
  CHECK(message_of(Fault::file, [&] {
          evaluator->run({Array(DType::float32, {3, 5})});
        }).find("net.py:4") != std::string::npos);
}

TEST_CASE("inputs become the codes that their format gives") {
  for (const std::string text : {"integer(8, 4)", "integer_floor(8, 4)", "integer(32, 20)",
                                 "integer(5, -3, is_signed=false)", "integer_floor(12, 100)"}) {
    INFO(text);
    Sketch sketch;
    const auto x = sketch.input({2, 1000}, {{"data_out", text}});
    const integer::Program program = integer::lower(sketch.finish(x));
    Array batch = random_batch({2, 1000}, 20, 5);
    const auto floats = batch.mutable_span<float>();
    floats[0] = std::numeric_limits<float>::infinity();
    floats[1] = -std::numeric_limits<float>::infinity();
    floats[2] = 1e-45F;
    floats[3] = -1e-45F;
    floats[4] = -0.0F;
    const formats::Format format = formats::parse_format(text);
    const formats::Encoded encoded = format.encode(batch.span<float>(), batch.shape());
    const std::vector<std::uint32_t> expected = encoded.codes.unpack();
    const integer::Codes codes = integer::encode_input(program, 0, batch);
    for (std::size_t i = 0; i < codes.size(); ++i)
      CHECK((static_cast<std::uint64_t>(codes[i]) &
             ((std::uint64_t{1} << encoded.codes.bits()) - 1)) == expected[i]);
  }
}

TEST_CASE("codes become floats with one rounding") {
  integer::StreamValue value;
  value.shape = value.torch_shape = {4};
  value.type = {62, 30, true};
  // 2^60 + 2^36 is a tie between two floats; one more unit makes it the upper one.
  const std::int64_t tie = (std::int64_t{1} << 60) + (std::int64_t{1} << 36);
  const Array floats = integer::decode_value(value, {tie, tie + 1, -tie - 1, 3}, 1);
  const auto got = floats.span<float>();
  CHECK(got[0] == std::ldexp(1.0F, 30));
  CHECK(got[1] == std::ldexp(1.0F + 0x1p-23F, 30));
  CHECK(got[2] == -std::ldexp(1.0F + 0x1p-23F, 30));
  CHECK(got[3] == std::ldexp(3.0F, -30));
}

TEST_CASE("whole numbers in the range of a narrow type are results of it") {
  const auto graph_of = [](const std::string& format, bool rounds) {
    Sketch sketch;
    auto x = sketch.input({2, 5}, {{"data_out", format}});
    if (rounds) {
      x = sketch.call("aten::round", {{"self", ref(x)}}, {2, 5});
      x = sketch.call("aten::clamp", {{"self", ref(x)}, {"min", Value(0)}, {"max", Value(255)}},
                      {2, 5});
    }
    return sketch.finish(sketch.call("aten::to.dtype", {{"self", ref(x)}},
                                     ir::ValueInfo::tensor(DType::uint8, {2, 5})));
  };
  const auto message =
      message_of(Fault::unsupported, [&] { integer::lower(graph_of("integer(10, 1)", false)); });
  CHECK_THAT(message, Catch::Contains("whole numbers from 0 to 255, which uint8 has") &&
                          Catch::Contains("torch.round and torch.clamp"));
  const auto evaluator = integer::make_evaluator(graph_of("integer(10, 1)", true));
  const Array batch = Array::from<float>({-3, 2.5F, 3.5F, 255, 300}, {1, 5});
  const Array result = evaluator->run({batch})[0].second;
  REQUIRE(result.dtype() == DType::uint8);
  const auto codes = result.span<std::uint8_t>();
  CHECK(std::vector<int>(codes.begin(), codes.end()) == std::vector<int>{0, 2, 4, 255, 255});
}

TEST_CASE("the host divides an input whose readers divide it behind moves") {
  Sketch sketch;
  const auto x = sketch.input({2, 1, 4, 4});
  const auto pooled =
      sketch.call("aten::max_pool2d", {{"self", ref(x)}, {"kernel_size", Value(2)}}, {2, 1, 2, 2});
  const auto y = sketch.call("aten::flatten.using_ints",
                             {{"self", ref(pooled)}, {"start_dim", Value(1)}}, {2, 4});
  const auto codes =
      sketch.call("aten::div.Scalar", {{"self", ref(y)}, {"other", Value(0.1)}}, {2, 4});
  const auto z = sketch.relu(codes, {{"data_in", "integer(8, 0)"}});
  const auto evaluator = integer::make_evaluator(sketch.finish(z));
  const Array batch = random_batch({50, 1, 4, 4}, 15, 3);
  const Array result = evaluator->run({batch})[0].second;
  const auto in = batch.span<float>(), out = result.span<float>();
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t corner = i / 4 * 16 + i % 4 / 2 * 8 + i % 2 * 2;
    const float most = std::max({in[corner], in[corner + 1], in[corner + 4], in[corner + 5]});
    CHECK(out[i] == std::clamp(std::nearbyint(most / 0.1F), 0.0F, 127.0F));
  }
}
