// SPDX-License-Identifier: Apache-2.0
// Programs whose constants another checkpoint may replace: bounds of formats instead of those of
// weights.
#include <algorithm>
#include <catch2/catch.hpp>

#include "hardware/integer/faults.hpp"
#include "hardware/integer/interpreter.hpp"
#include "sketch.hpp"
#include "support/message_of.hpp"

using namespace mase;
using namespace mase::integer;
using test::ref;

namespace {

const test::Formats seven_bits{
    {"data_in", "integer(7, 3)"}, {"weight", "integer(5, 3)"}, {"bias", "integer(9, 7)"}};

/// Two layers with a relu and a factor by channel between them; `scale` of the weights.
ir::Graph network(std::uint64_t seed, double scale) {
  test::Sketch sketch(seed);
  const ir::NodeId x = sketch.input({2, 6});
  const ir::NodeId first = sketch.relu(sketch.linear(x, 4, test::eight, scale));
  const ir::NodeId factor = sketch.parameter({4}, scale, {{"data_out", "integer(6, 4)"}});
  const ir::NodeId scaled = sketch.call("aten::mul", {{"self", ref(first)}, {"other", ref(factor)}},
                                        {2, 4}, {{"data_in", "integer(8, 4)"}});
  return sketch.finish(sketch.linear(scaled, 3, seven_bits, scale));
}

std::string reloadable_text(const ir::Graph& graph) {
  return program_text(lower(graph, Contents::reloadable));
}

std::vector<Codes> outputs_of(const Program& program, const Codes& input, std::int64_t frames) {
  return Interpreter(program).run({input}, frames);
}

}  // namespace

TEST_CASE("reloadable checkpoints of one graph give one program but for its codes") {
  const std::string text = reloadable_text(network(1, 1));
  CHECK(text == reloadable_text(network(2, 1)));
  CHECK(text == reloadable_text(network(3, 0.05)));
  CHECK(text == reloadable_text(network(4, 0)));  // no bias is left out, no factor is one
  CHECK(program_text(lower(network(1, 1))) != program_text(lower(network(3, 0.05))));
}

TEST_CASE("a reloadable accumulator holds every code of the formats") {
  test::Sketch sketch;
  const ir::NodeId x = sketch.input({2, 3});
  const ir::Graph graph = sketch.finish(sketch.linear(x, 2, test::eight, 0.1));
  const Step step = lower(graph, Contents::reloadable).steps.at(0);
  // Three products of -128..127 and -32..31, and -128..127 at 2^-5 where products stand at 2^-8.
  CHECK(step.high == 3 * 128 * 32 + 127 * 8);
  CHECK(step.low == -3 * 127 * 32 - 128 * 8);
  CHECK(std::get<Linear>(step.operation).bias_width == 11);
  CHECK(lower(graph).steps.at(0).high < step.high);
}

TEST_CASE("reloadable programs compute what the others do") {
  constexpr std::int64_t frames = 50;
  for (const std::uint64_t seed : {1, 2, 3}) {
    const ir::Graph graph = network(seed, 1);
    Random random(seed);
    Codes input;
    for (int i = 0; i < 6 * frames; ++i)
      input.push_back(static_cast<std::int64_t>(random.below(256)) - 128);
    const Program fixed = lower(graph), reloadable = lower(graph, Contents::reloadable);
    const std::vector<Codes> wanted = outputs_of(fixed, input, frames),
                             found = outputs_of(reloadable, input, frames);
    const Array a = decode_output(fixed, 0, wanted[0], frames),
                b = decode_output(reloadable, 0, found[0], frames);
    CHECK(std::ranges::equal(a.span<float>(), b.span<float>()));
  }
}

TEST_CASE("a flipped bit of a reloadable program changes no bound") {
  const Program program = lower(network(1, 1), Contents::reloadable);
  const ConstantBits bits(program);
  Random random(3);
  for (int i = 0; i < 200; ++i) {
    const ConstantBit bit = bits.draw(random);
    const Step step = flipped(program, bit), sound = program.steps[bit.step];
    CHECK((step.low == sound.low && step.high == sound.high));
  }
}

TEST_CASE("constants that no host can replace are listed with what would do") {
  test::Sketch sketch;
  const ir::NodeId x = sketch.input({2, 4}, {{"data_out", "integer(8, 4)"}});
  const ir::NodeId loose = sketch.parameter({4}, 1), bound = sketch.constants({0.5F}, {1});
  sketch.graph.node(bound).formats.emplace("data_out", formats::parse_format("integer(8, 4)"));
  const ir::NodeId sum =
      sketch.call("aten::add", {{"self", ref(x)}, {"other", ref(loose)}}, {2, 4});
  const ir::NodeId most =
      sketch.call("aten::maximum", {{"self", ref(x)}, {"other", ref(bound)}}, {2, 4});
  sketch.graph.node(sum).name = "sum";
  sketch.graph.node(most).name = "most";
  const ir::Graph graph = sketch.finish(ir::Value::tuple({ref(sum), ref(most)}));
  const std::string message =
      test::message_of(Fault::unsupported, [&] { lower(graph, Contents::reloadable); });
  CHECK_THAT(message, Catch::Contains("node 'sum' (add): its other has no format"));
  CHECK_THAT(message, Catch::Contains("node 'most' (maximum): its constant stands in the logic"));
  CHECK_THAT(message, Catch::Contains("without reloadable"));
}

TEST_CASE("what a refusal of a weight's format proposes is not refused") {
  const auto with = [](const std::string& weight) {
    test::Sketch sketch;
    const ir::NodeId x = sketch.input({2, 6}, {{"data_out", "integer(8, 4)"}});
    return sketch.finish(sketch.linear(x, 3, {{"weight", weight}, {"bias", "integer(8, 4)"}}));
  };
  struct Row {
    std::string refused, words, proposed;
  };
  for (const Row& row : {
           Row{"ternary", "threshold = 0.5, say, has", "ternary(threshold=0.5)"},
           Row{"ternary(scaling_factor=true)", "threshold = 0.5, say, with scaling_factor = false",
               "ternary(threshold=0.5, scaling_factor=false)"},
           Row{"ternary(scaling_factor=true, threshold=0.5)", "; scaling_factor = false",
               "ternary(threshold=0.5, scaling_factor=false)"},
           Row{"binary(scaled=true)", "; scaled = false", "binary(scaled=false)"},
           Row{"scale_integer(8)", "'integer'", "integer(8, 4)"},
       }) {
    INFO(row.refused);
    CHECK_NOTHROW(lower(with(row.refused)));
    const std::string message = test::message_of(
        Fault::unsupported, [&] { lower(with(row.refused), Contents::reloadable); });
    INFO(message);
    CHECK(message.find(row.words) != std::string::npos);
    CHECK_NOTHROW(lower(with(row.proposed), Contents::reloadable));
  }
}
