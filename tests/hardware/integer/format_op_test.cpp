// SPDX-License-Identifier: Apache-2.0
// Every format on every kind of op: programs with random parameters equal the reference, or are
// refused; the page docs/hardware/format_table.md says which. With MASE_UPDATE_PAGES in the
// environment the test writes the page.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "hardware/integer/interpreter.hpp"
#include "hardware/integer/lowering/element_step.hpp"
#include "reference_evaluation.hpp"
#include "sketch.hpp"
#include "test_paths.hpp"

using namespace mase;
using namespace mase::test;
using ir::NodeId;
using ir::Value;

namespace {

const std::vector<std::string> table_formats{
    "integer(8, 4)",
    "integer(8, 4, rounding=nearest_away)",
    "integer_floor(8, 4)",
    "fp8_e4m3()",
    "fp8_e5m2()",
    "fp6_e3m2()",
    "fp6_e2m3()",
    "fp4_e2m1()",
    "minifloat_ieee(5, 2)",
    "minifloat_denorm(6, 3)",
    "log(4)",
    "log(5)",
    "log(8)",
    "binary()",
    "binary_residual(2, means=[0.5, 0.25])",
    "ternary(threshold=0.375)",
    "ternary()",
    "binary(scaled=true)",
    "scale_integer(8)",
    "nvfp4()",
    "nvfp4(block_size=4, tensor_scale=none)",
    "nvfp4(block_size=3, block_dim=1, tensor_scale=0.0625)",
    "nvfp4(block_size=4, tensor_scale=0.0123)",
    "mxint8(block_size=4, scale_bits=4)",
    "mxint8(block_size=3, block_dim=1, scale_bits=3)",
    "mxint8(block_size=4, exponent_min=-3, exponent_max=1)",
    "mxint4(block_size=4, scale_bits=4, scale_rule=ceil)",
    "mxfp4(block_size=4, scale_bits=4)",
    "mxfp4(block_size=4, scale_bits=3, scale_rule=rceil)",
    "mxfp6_e3m2(block_size=4, scale_bits=4)",
    "mxfp8_e4m3(block_size=4, scale_bits=4)",
    "mxfp8_e4m3(block_size=4, scale_bits=2)",
    "mxfp8_e4m3(block_size=4, exponent_min=-3, exponent_max=0)",
    "mxint8(block_size=4, exponent_min=-1, exponent_max=-1)",
    "mxfp8_e4m3()",
    "block_fp(6, 4, block_size=[1, 4], skip_first_dim=true)",
    "block_minifloat(6, 2, 3, block_size=[2, 4], skip_first_dim=true)",
    "block_log(4, 4, block_size=[1, 4], skip_first_dim=true)"};

using Row = std::vector<double>;

/// A graph all of whose ports have one format, and for ops that are not exact their real function
/// of a row and how far the hardware may be from it.
struct OpCase {
  ir::Graph graph;
  std::function<Row(const Row&)> function = nullptr;
  std::function<double(std::int64_t length, int frac)> bound = nullptr;
  /// The bound for a number, in place of the one above, where a function has no table.
  std::function<double(double number)> bound_in_pieces = nullptr;
};

/// Makes the case of an op at random sizes.
class CaseMaker {
 public:
  CaseMaker(std::string format, std::uint64_t seed)
      : format_(std::move(format)), random_(seed), sketch_(seed) {}

  OpCase linear() {
    const auto x = input({2, 1 + pick(9)});
    return {sketch_.finish(sketch_.linear(x, 1 + pick(7), layer()))};
  }
  OpCase convolution(bool depthwise) {
    const std::int64_t channels = 1 + pick(4), size = 4 + pick(3), kernel = 1 + pick(3);
    const std::int64_t outputs = depthwise ? channels : 1 + pick(5), out = size - kernel + 1;
    const auto x = input({2, channels, size, size});
    return {sketch_.finish(sketch_.layer(
        "conv.Conv2d", "aten::conv2d", x, {{"groups", Value(depthwise ? channels : 1)}},
        {{"weight", {outputs, depthwise ? 1 : channels, kernel, kernel}}, {"bias", {outputs}}},
        {2, outputs, out, out}, layer()))};
  }
  OpCase pool(const std::string& op) {
    const std::int64_t channels = 1 + pick(4), out = 1 + pick(3), kernel = 2 + pick(2);
    return unary(op, {{"kernel_size", Value(kernel)}}, {2, channels, out * kernel, out * kernel},
                 {2, channels, out, out});
  }
  OpCase binary(const std::string& op) {
    const Shape shape{2, 1 + pick(40)};
    const auto x = input(shape), y = input(shape);
    return {sketch_.finish(sketch_.call(op, {{"self", ref(x)}, {"other", ref(y)}}, shape, out()))};
  }
  OpCase matmul() {
    const std::int64_t rows = 1 + pick(5), inner = 1 + pick(6), columns = 1 + pick(5);
    const auto x = input({2, rows, inner}), y = input({2, inner, columns});
    return {sketch_.finish(sketch_.call("aten::matmul", {{"self", ref(x)}, {"other", ref(y)}},
                                        {2, rows, columns}, out()))};
  }
  OpCase concat() {
    const std::int64_t a = 1 + pick(5), b = 1 + pick(5);
    const auto x = input({2, a, 4}), y = input({2, b, 4});
    return {sketch_.finish(
        sketch_.call("aten::cat", {{"tensors", Value::list({ref(x), ref(y)})}, {"dim", Value(1)}},
                     {2, a + b, 4}, out()))};
  }
  OpCase unary(const std::string& op, std::vector<ir::Argument> arguments = {}, Shape in = {},
               Shape result = {}) {
    if (in.empty()) in = result = {2, 1 + pick(60)};
    arguments.insert(arguments.begin(), {"self", ref(input(in))});
    return {sketch_.finish(sketch_.call(op, arguments, result, out()))};
  }
  OpCase gelu() {
    OpCase made = unary("aten::gelu");
    made.function = [](Row x) {
      for (double& one : x) one = one / 2 * std::erfc(-one / std::sqrt(2.0));
      return x;
    };
    // docs/hardware/arithmetic.md, "Functions of one input".
    const auto format = formats::parse_format(format_);
    std::shared_ptr<const integer::BlockLevels> blocks;  // found where nothing is refused
    if (shares_scales(format))
      made.bound_in_pieces = [format, blocks](double number) mutable {
        if (!blocks) blocks = integer::block_levels_of(format);
        return integer::element_step(*blocks, number) / 4;
      };
    return made;
  }
  OpCase requantise() {
    const Shape shape{2, 1 + pick(200)};
    const auto x = sketch_.input(shape, {{"data_out", "integer(14, 8)"}});
    return {sketch_.finish(sketch_.relu(x, {{"data_in", format_}}))};
  }
  OpCase softmax() {
    const std::int64_t length = 1 + pick(12);
    OpCase made = unary("aten::softmax.int", {{"dim", Value(std::int64_t{-1})}}, {2, 9, length},
                        {2, 9, length});
    made.function = [](Row x) {
      const double top = *std::max_element(x.begin(), x.end());
      double sum = 0;
      for (double& one : x) sum += one = std::exp(one - top);
      for (double& one : x) one /= sum;
      return x;
    };
    made.bound = [](std::int64_t n, int) {  // lowering/softmax.cpp: pieces, rounded distances
      return std::ldexp(static_cast<double>(n), -15) + std::ldexp(1.0, -12);
    };
    return made;
  }
  OpCase layer_norm() {
    const std::int64_t length = 2 + pick(12);
    const Shape shape{2, 9, length};
    const auto x = input(shape);
    OpCase made{sketch_.finish(
        sketch_.call("aten::layer_norm", {{"input", ref(x)}, {"normalized_shape", list({length})}},
                     shape, out()))};
    made.function = [](Row x) {
      const auto n = static_cast<double>(x.size());
      double sum = 0, squares = 0;
      for (const double one : x) sum += one;
      for (const double one : x) squares += (one - sum / n) * (one - sum / n);
      for (double& one : x)
        one = squares == 0 ? 0 : (one - sum / n) / std::sqrt(squares / n + 1e-5);
      return x;
    };
    made.bound = [](std::int64_t, int frac) { return std::ldexp(0.26, -frac); };  // norm.cpp
    return made;
  }

 private:
  std::int64_t pick(std::int64_t bound) {
    return static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(bound)));
  }
  NodeId input(const Shape& shape) { return sketch_.input(shape, {{"data_out", format_}}); }
  Formats out() const { return {{"data_out", format_}}; }
  Formats layer() const {
    return {{"weight", format_}, {"bias", "integer(8, 5)"}, {"data_out", format_}};
  }

  std::string format_;
  Random random_;
  Sketch sketch_;
};

struct OpColumn {
  std::string name;
  OpCase (*make)(CaseMaker& maker);
};

const std::vector<OpColumn> table_ops{
    {"linear", [](CaseMaker& m) { return m.linear(); }},
    {"convolution", [](CaseMaker& m) { return m.convolution(false); }},
    {"depthwise", [](CaseMaker& m) { return m.convolution(true); }},
    {"max pool", [](CaseMaker& m) { return m.pool("aten::max_pool2d"); }},
    {"average", [](CaseMaker& m) { return m.pool("aten::avg_pool2d"); }},
    {"add", [](CaseMaker& m) { return m.binary("aten::add.Tensor"); }},
    {"multiply", [](CaseMaker& m) { return m.binary("aten::mul.Tensor"); }},
    {"divide", [](CaseMaker& m) { return m.binary("aten::div.Tensor"); }},
    {"matmul", [](CaseMaker& m) { return m.matmul(); }},
    {"concat", [](CaseMaker& m) { return m.concat(); }},
    {"relu", [](CaseMaker& m) { return m.unary("aten::relu"); }},
    {"gelu", [](CaseMaker& m) { return m.gelu(); }},
    {"requantise", [](CaseMaker& m) { return m.requantise(); }},
    {"softmax", [](CaseMaker& m) { return m.softmax(); }},
    {"layer norm", [](CaseMaker& m) { return m.layer_norm(); }}};

/// The numbers behind the codes of a stream in the order of its elements, row by row.
Row numbers_of(const integer::StreamValue& value, const integer::Codes& codes) {
  Row numbers;
  for (const std::int64_t code : codes)
    numbers.push_back(std::ldexp(static_cast<double>(value.code ? value.code->number(code) : code),
                                 -value.type.frac));
  return numbers;
}

/// Results beyond what the format makes of numbers within the bound, element by element.
int count_far(const formats::Format& format, const Shape& shape, const Row& results,
              const Row& exact, const std::function<double(double number)>& bound) {
  int far = 0;
  if (!shares_scales(format)) {
    for (std::size_t i = 0; i < exact.size(); ++i)
      far += static_cast<Real>(results[i]) <
                 quantized(static_cast<Real>(exact[i] - bound(exact[i])), format) ||
             static_cast<Real>(results[i]) >
                 quantized(static_cast<Real>(exact[i] + bound(exact[i])), format);
    return far;
  }
  for (const auto& block : blocks_in(format, shape)) {
    double peak = 0;
    for (const std::int64_t i : block) peak = std::max(peak, std::abs(exact[test::at(i)]));
    const auto beyond = [&](Real scale) {  // of the block with one scale
      return std::ranges::count_if(block, [&](std::int64_t i) {
        const auto result = static_cast<Real>(results[test::at(i)]);
        const double one = exact[test::at(i)];
        const auto number = static_cast<Real>(one), apart = static_cast<Real>(bound(one));
        return result < at_scale(number - apart, scale, format) ||
               result > at_scale(number + apart, scale, format);
      });
    };
    // The scale is that of a number within the bound of the peak; there are at most so many.
    constexpr int scales = 32;
    std::ptrdiff_t fewest = std::ssize(block);
    for (int i = -scales; i <= scales; ++i) {
      const double number = std::max(0.0, peak + bound(peak) * i / scales);
      fewest = std::min(fewest, beyond(scale_for(static_cast<Real>(number), format)));
    }
    far += static_cast<int>(fewest);
  }
  return far;
}

/// Results of rows, each what the format makes of a number within the bound of the real function.
void check_near(const OpCase& one, const formats::Format& format) {
  const integer::Program program = integer::lower(one.graph);
  const integer::StreamValue& in = program.value(program.inputs[0]);
  const integer::StreamValue& out = program.value(program.outputs[0]);
  REQUIRE((in.order.empty() && out.order.empty()));
  const auto length = in.torch_shape.back();
  Shape shape = one.graph.node(one.graph.placeholders()[0]).info.shape;
  shape[0] = 3;
  const integer::Codes x = integer::encode_saturated(program, 0, random_batch(shape, 3, 5));
  const Row values = numbers_of(in, x);
  const Row results = numbers_of(out, integer::Interpreter(program).run({x}, 3).at(0));
  const auto bound = [&](double number) {
    return one.bound_in_pieces ? one.bound_in_pieces(number) : one.bound(length, out.type.frac);
  };
  Row exact;
  for (auto first = values.begin(); first != values.end(); first += length)
    std::ranges::copy(one.function(Row(first, first + length)), std::back_inserter(exact));
  CHECK(count_far(format, shape, results, exact, bound) == 0);
}

/// What a refusal says of the format, without the node.
std::string reason_of(const std::string& message) {
  const std::size_t node = message.find("\n  node '");
  const std::size_t colon = message.find("): ", node);
  std::string reason = colon == std::string::npos ? message : message.substr(colon + 3);
  return reason.substr(0, reason.find("\n"));
}

bool in_pieces(const integer::Program& program) {
  return std::ranges::any_of(program.steps, [](const integer::Step& step) {
    return integer::approximation(step.operation).has_value();
  });
}

/// Empty where all programs are verified, else why one is refused.
std::string verdict(const OpColumn& op, const std::string& text) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    INFO(op.name << " of " << text << ", seed " << seed);
    CaseMaker maker(text, seed);
    const OpCase made = op.make(maker);
    bool exact = !made.function;
    try {
      const bool pieces = in_pieces(integer::lower(made.graph));
      exact = exact || (!made.bound && !pieces);
    } catch (const Error& error) {
      CHECK(error.fault() == Fault::unsupported);
      return reason_of(error.what());
    }
    if (exact)
      check_against_reference(made.graph, 4, seed);
    else
      check_near(made, formats::parse_format(text));
    if (exact && shares_scales(formats::parse_format(text)))
      check_groups_against_reference(made.graph, seed);
  }
  return "";
}

std::string page() {
  std::string text =
      "# Formats and operations\n\nEach row is a format of data, weights and results; each "
      "column an operation. `yes`: programs with random\nparameters equal an evaluation in exact "
      "numbers, or are within the stated bounds of softmax, norms and\nfunctions in straight "
      "pieces. A number: the operation is refused, with the message below.\n"
      "`tests/hardware/integer/format_op_test.cpp` makes and checks this page.\n\n| format |";
  for (const OpColumn& op : table_ops) text += " " + op.name + " |";
  text += "\n|---|";
  for (std::size_t i = 0; i < table_ops.size(); ++i) text += "---|";
  std::vector<std::string> reasons;
  for (const std::string& format : table_formats) {
    text += "\n| `" + format + "` |";
    for (const OpColumn& op : table_ops) {
      const std::string reason = verdict(op, format);
      if (reason.empty()) {
        text += " yes |";
        continue;
      }
      auto found = std::ranges::find(reasons, reason);
      if (found == reasons.end()) found = reasons.insert(reasons.end(), reason);
      text += " " + std::to_string(found - reasons.begin() + 1) + " |";
    }
  }
  text += "\n\n| refusal | message |\n|---|---|\n";
  for (std::size_t i = 0; i < reasons.size(); ++i)
    text += "| " + std::to_string(i + 1) + " | " + reasons[i] + " |\n";
  return text;
}

}  // namespace

TEST_CASE("every format on every op equals the reference or is refused as the page says") {
  const std::string file = std::string(MASE_SOURCE_FOLDER) + "/docs/hardware/format_table.md";
  const std::string made = page();
  if (std::getenv("MASE_UPDATE_PAGES")) write_file(file, made);
  CHECK(read_file(file) == made);
}
