// SPDX-License-Identifier: Apache-2.0
// Finite numbers that hide elements from a softmax: its quantized results are those of the other
// elements alone.
#include <algorithm>
#include <cmath>
#include <limits>

#include "config/toml.hpp"
#include "driver/all_passes.hpp"
#include "ir/text.hpp"
#include "passes/runner.hpp"
#include "torch/catch.hpp"
#include "torch/fixtures.hpp"

namespace mase::finite_masks {
namespace {

std::string call(const std::string& name, const std::string& text) {
  return "  %" + name + " : float32[2, 4] = call_function f aten::" + text + "\n";
}

/// The softmax of %s, which these lines make of scores %x and %m, which is 1 where they are hidden.
ir::Graph graph_of(const std::string& lines, float mask) {
  ir::Graph graph = ir::parse(
      "graph \"g\" {\n  tensor c : float32[2, 4] buffer\n"
      "  %x : float32[2, 4] = placeholder x\n  %m : float32[2, 4] = placeholder m\n"
      "  %b : bool[2, 4] = call_function f aten::gt.Scalar(self=%m, other=0)\n"
      "  %c : float32[2, 4] = get_attr c\n" +
          lines + call("y", "softmax.int(self=%s, dim=-1)") +
          "  %output : float32[2, 4] = output output(value=%y)\n}\n",
      "test");
  graph.tensors.at("c").value = Array::from<float>({0, mask, 0, 0, mask, 0, 0, mask}, {2, 4});
  return graph;
}

const std::vector<float> scores{0.5F, 1.75F, -1.25F, 0.125F, 1.5F, -0.75F, 1, 0.25F};
const std::vector<float> hidden{0, 1, 0, 0, 1, 0, 0, 1};

const std::vector<Array>& inputs() {
  static const std::vector<Array> both{Array::from(scores, {2, 4}), Array::from(hidden, {2, 4})};
  return both;
}

/// Formats hold these scores exactly, where blocks have no other numbers.
void check_shares(const ir::Graph& graph) {
  const Array found = test::evaluator_of(graph, ir::Level::quantized)->run(inputs()).front().second;
  for (std::size_t row = 0; row < 2; ++row) {
    double sum = 0;
    const auto power = [&](std::size_t i) {
      return hidden[row * 4 + i] != 0 ? 0.0 : std::exp(double(scores[row * 4 + i]));
    };
    for (std::size_t i = 0; i < 4; ++i) sum += power(i);
    for (std::size_t i = 0; i < 4; ++i)
      CHECK(found.span<float>()[row * 4 + i] == Approx(power(i) / sum).margin(1e-6));
  }
}

std::vector<std::string> quantize(ir::Graph& graph, const std::string& format, bool with_data) {
  passes::PassContext context;
  if (with_data) {
    context.probe = inputs();
    context.probe_is_data = true;
    context.evaluator = [](const ir::Graph& one, ir::Level level) {
      return test::evaluator_of(one, level);
    };
  }
  const Tree options = config::parse_toml(
      "[softmax.config]\ndata_in = \"" + format + "\"\n[default.config]\nname = \"NA\"\n", "test");
  const auto reports =
      passes::run_passes(graph, {{"quantize", options, {}}}, driver::all_passes(), context, {});
  std::vector<std::string> notes;
  for (const std::string& note : reports.front().result.notes)
    if (note.find("softmax") != std::string::npos) notes.push_back(note);
  return notes;
}

const std::vector<std::string> all_formats{"integer(8, 6)", "mxint8", "block_fp(8, 8)",
                                           "scale_integer(16)"};

}  // namespace

TEST_CASE("what -10000 and -1e9 hide from a softmax has no share, whatever puts them there") {
  for (const std::string& format : all_formats)
    for (const std::string mask : {"-10000.0", "-1e+09", "-65504.0", "-1e+30"}) {
      INFO(format << " " << mask);
      for (const std::string& lines :
           {call("s", "masked_fill.Scalar(self=%x, mask=%b, value=" + mask + ")"),
            call("s", "where.ScalarSelf(condition=%b, self=" + mask + ", other=%x)"),
            call("p", "mul.Scalar(self=%m, other=" + mask + ")") +
                call("s", "add.Tensor(self=%x, other=%p)"),
            call("p", "mul.Scalar(self=%m, other=" + mask.substr(1) + ")") +
                call("s", "sub.Tensor(self=%x, other=%p)"),
            call("s", "add.Tensor(self=%x, other=%c)")}) {
        INFO(lines);
        ir::Graph graph = graph_of(lines, std::stof(mask));
        CHECK(quantize(graph, format, false).empty());
        check_shares(graph);
      }
    }
}

TEST_CASE("smaller numbers hide elements where data shows that they leave no share") {
  const std::string added = call("s", "add.Tensor(self=%x, other=%c)");
  for (const std::string& format : all_formats) {
    ir::Graph graph = graph_of(added, -100);
    CHECK(quantize(graph, format, true).empty());
    check_shares(graph);
  }
  // Scores that are all as low are no masks.
  ir::Graph low = graph_of(added, 0);
  const Array given = Array::from<float>({-18, -20, -18, -18, -20, -18, -18, -20}, {2, 4});
  low.tensors.at("c").value = given;
  CHECK(quantize(low, "mxint8", true).empty());
  CHECK(std::ranges::equal(low.tensors.at("c").value.span<float>(), given.span<float>()));
  ir::Graph unknown = graph_of(added, -100);
  CHECK(quantize(unknown, "mxint8", false).size() == 1);
}

TEST_CASE("numbers that something else reads, and those of a softmax in floats, stay") {
  const std::string filled = call("s", "masked_fill.Scalar(self=%x, mask=%b, value=-10000.0)");
  ir::Graph read = graph_of(filled + call("r", "relu(self=%s)"), 0);
  quantize(read, "mxint8", false);
  CHECK(ir::print(read).find("value=-10000.0") != std::string::npos);
  ir::Graph plain = graph_of(filled, 0);
  const Tree options = config::parse_toml("[linear.config]\ndata_in = \"mxint8\"\n", "test");
  passes::PassContext context;
  passes::run_passes(plain, {{"quantize", options, {}}}, driver::all_passes(), context, {});
  CHECK(ir::print(plain).find("value=-10000.0") != std::string::npos);
}

TEST_CASE("finite masks that are an input are told, with what would do") {
  for (const float mask : {-10000.0F, -std::numeric_limits<float>::infinity()}) {
    ir::Graph graph = graph_of(call("s", "add.Tensor(self=%x, other=%m)"), 0);
    const ir::Graph original = graph;
    passes::PassContext context;
    context.original = &original;
    context.probe = {inputs()[0], Array::from<float>({0, mask, 0, 0, mask, 0, 0, mask}, {2, 4})};
    context.probe_is_data = true;
    context.evaluator = [](const ir::Graph& one, ir::Level level) {
      return test::evaluator_of(one, level);
    };
    const Tree options = config::parse_toml("[softmax.config]\ndata_in = \"mxint8\"\n", "test");
    const auto reports = passes::run_passes(
        graph, {{"quantize", options, {}}, {"summarize_quantization", Tree::dict(), {}}},
        driver::all_passes(), context, {});
    const std::vector<std::string>& notes = reports.back().result.notes;
    CHECK(std::ranges::count_if(notes, [](const std::string& note) {
            return note.find("use -inf in masks that are inputs, at: y") != std::string::npos;
          }) == (std::isinf(mask) ? 0 : 1));
  }
}

}  // namespace mase::finite_masks
