// SPDX-License-Identifier: Apache-2.0
// Norms against the real functions: every result within the bound that lowering/norm.cpp states.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "hardware/integer/interpreter.hpp"
#include "sketch.hpp"

using namespace mase;
using namespace mase::test;
using integer::Codes;
using ir::Value;

namespace {

constexpr int constant_frac = 5;
const std::string constant_format = "integer(8, 5)";

/// A norm of one frame: what the elements of a row and those with one gain have in common.
struct Norm {
  std::string op;
  std::vector<ir::Argument> arguments;
  Shape frame, constants;
  std::function<std::int64_t(std::int64_t)> row, channel;
  bool centred = true;
};

/// Over the last `count` dimensions of a frame.
Norm shaped(const std::string& op, const Shape& frame, std::size_t count) {
  const Shape last(frame.end() - static_cast<std::ptrdiff_t>(count), frame.end());
  const std::int64_t n = numel(last);
  return {op,
          {{"normalized_shape", list(last)}},
          frame,
          last,
          [n](std::int64_t i) { return i / n; },
          [n](std::int64_t i) { return i % n; },
          op != "aten::rms_norm"};
}

/// Over groups of channels of a frame.
Norm grouped(const std::string& op, const Shape& frame, std::int64_t groups) {
  const std::int64_t n = numel(frame) / groups, pixels = numel(frame) / frame[0];
  std::vector<ir::Argument> arguments;
  if (op == "aten::group_norm")
    arguments = {{"num_groups", Value(groups)}};
  else
    arguments = {{"use_input_stats", Value(true)}};
  return {op,
          arguments,
          frame,
          {frame[0]},
          [n](std::int64_t i) { return i / n; },
          [pixels](std::int64_t i) { return i / pixels; }};
}

struct Lowered {
  integer::Program program;
  std::vector<double> gain, bias;  ///< as quantized; empty without
};

Lowered lowered(Norm norm, double eps, bool affine, const std::string& in, const std::string& out) {
  Sketch sketch;
  Shape batch{2};
  batch.insert(batch.end(), norm.frame.begin(), norm.frame.end());
  const auto x = sketch.input(batch, {{"data_out", in}});
  norm.arguments.insert(norm.arguments.begin(), {"input", ref(x)});
  norm.arguments.emplace_back("eps", Value(eps));
  Formats formats{{"data_out", out}};
  std::vector<ir::NodeId> constants;
  if (affine)
    for (const std::string port : {"weight", "bias"}) {
      if (port == "bias" && !norm.centred) continue;
      constants.push_back(sketch.parameter(norm.constants, 2));
      norm.arguments.emplace_back(port, ref(constants.back()));
      formats.emplace_back(port, constant_format);
    }
  const ir::Graph graph = sketch.finish(sketch.call(norm.op, norm.arguments, batch, formats));
  Lowered result{integer::lower(graph), {}, {}};
  for (const ir::NodeId id : constants) {
    std::vector<double>& values = result.gain.empty() ? result.gain : result.bias;
    const Array stored = graph.tensors.at(graph.node(id).target).value.to_float32();
    for (const float value : stored.span<float>())
      values.push_back(
          std::ldexp(std::nearbyint(std::ldexp(value, constant_frac)), -constant_frac));
  }
  return result;
}

/// The real norm of a frame in torch's order.
std::vector<double> real_norm(const Norm& norm, const Lowered& lowered, double eps,
                              const std::vector<double>& x) {
  std::vector<double> result(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto of = [&](std::size_t j) { return norm.row(static_cast<std::int64_t>(j)); };
    double sum = 0, squares = 0, n = 0;
    for (std::size_t j = 0; j < x.size(); ++j)
      if (of(j) == of(i)) sum += x[j], ++n;
    const double mean = norm.centred ? sum / n : 0;
    for (std::size_t j = 0; j < x.size(); ++j)
      if (of(j) == of(i)) squares += (x[j] - mean) * (x[j] - mean);
    const double deviation = x[i] - mean;
    result[i] = deviation == 0 ? 0 : deviation / std::sqrt(squares / n + eps);
    const auto channel = static_cast<std::size_t>(norm.channel(static_cast<std::int64_t>(i)));
    if (!lowered.gain.empty()) result[i] *= lowered.gain[channel];
    if (!lowered.bias.empty()) result[i] += lowered.bias[channel];
  }
  return result;
}

/// A stream's codes from those of torch's order.
std::size_t place(const integer::StreamValue& value, std::size_t i) {
  return value.order.empty() ? i : static_cast<std::size_t>(value.order[i]);
}

/// Frames at random, with one element apart from all others, at both ends, and close together, on
/// every scale.
Codes frame_of(const integer::FixedType& type, std::size_t size, std::uint64_t kind,
               Random& random) {
  const auto low = static_cast<std::int64_t>(type.low()),
             high = static_cast<std::int64_t>(type.high());
  const auto any = [&] {
    return low +
           static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(high - low + 1)));
  };
  const std::int64_t level = any();
  const auto apart = 3ULL << random.below(static_cast<std::uint64_t>(type.width));
  Codes codes;
  for (std::size_t i = 0; i < size; ++i) {
    const std::int64_t kinds[] = {
        any(), i == 1 ? any() : level, random.below(2) == 0 ? low : high,
        std::min(level + static_cast<std::int64_t>(random.below(apart)), high), level};
    codes.push_back(kinds[kind % 5]);
  }
  return codes;
}

/// Calls `visit` with every result of so many frames and what the real function gives, in places.
template <class Visit>
void compare(const Norm& norm, double eps, bool affine, const std::string& in,
             const std::string& out, const std::vector<std::uint64_t>& kinds, Visit visit) {
  const Lowered made = lowered(norm, eps, affine, in, out);
  const integer::StreamValue& x = made.program.value(made.program.inputs[0]);
  const integer::StreamValue& y = made.program.value(made.program.outputs[0]);
  integer::Interpreter interpreter(made.program);
  Random random(5);
  for (const std::uint64_t kind : kinds) {
    const Codes codes = frame_of(x.type, static_cast<std::size_t>(x.elements()), kind, random);
    const Codes results = interpreter.run({codes}, 1).at(0);
    std::vector<double> values(codes.size());
    for (std::size_t i = 0; i < codes.size(); ++i)
      values[place(x, i)] = std::ldexp(static_cast<double>(codes[i]), -x.type.frac);
    const std::vector<double> real = real_norm(norm, made, eps, values);
    for (std::size_t i = 0; i < results.size(); ++i)
      visit(static_cast<double>(results[i]), std::ldexp(real[place(y, i)], y.type.frac));
  }
}

/// The largest distance in places of the result.
double worst_error(const Norm& norm, double eps, bool affine, const std::string& in,
                   const std::string& out) {
  std::vector<std::uint64_t> kinds(60);
  std::iota(kinds.begin(), kinds.end(), 0);
  double worst = 0;
  compare(norm, eps, affine, in, out, kinds,
          [&](double code, double real) { worst = std::max(worst, std::abs(code - real)); });
  return worst;
}

std::vector<Norm> norms() {
  return {shaped("aten::layer_norm", {3, 8}, 1),       shaped("aten::layer_norm", {2, 3, 7}, 1),
          shaped("aten::layer_norm", {2, 5}, 2),       shaped("aten::layer_norm", {1}, 1),
          shaped("aten::rms_norm", {3, 8}, 1),         shaped("aten::rms_norm", {4, 6}, 1),
          grouped("aten::group_norm", {6, 3, 2}, 2),   grouped("aten::group_norm", {4, 5}, 4),
          grouped("aten::instance_norm", {3, 2, 5}, 3)};
}

}  // namespace

TEST_CASE("every result of a norm is within its bound of the real one") {
  for (const Norm& norm : norms())
    for (const std::string in :
         {"integer(8, 4)", "integer(4, 1)", "integer(12, 10)", "integer(6, 5, is_signed=false)",
          "integer(8, -2)", "integer(20, 14)"})
      for (const std::string out : {"integer(20, 4)", "integer(24, 12)", "integer(12, 0)"})
        for (const double eps : {0.0, 1e-5, 0.01})
          for (const bool affine : {false, true}) {
            INFO(norm.op << " of " << shape_text(norm.frame) << " of " << in << " to " << out
                         << ", eps " << eps);
            CHECK(worst_error(norm, eps, affine, in, out) < 0.76);
          }
}

TEST_CASE("of random rows nearly every result of a norm is the code nearest to the real one") {
  for (const Norm& norm :
       {shaped("aten::layer_norm", {20, 64}, 1), shaped("aten::rms_norm", {20, 64}, 1),
        grouped("aten::group_norm", {8, 160}, 4)}) {
    double results = 0, others = 0;
    compare(norm, 1e-5, true, "integer(8, 4)", "integer(12, 5)", std::vector<std::uint64_t>(40, 0),
            [&](double code, double real) {
              ++results;
              others += code != std::nearbyint(real);
            });
    INFO(norm.op << ": " << others << " of " << results);
    CHECK(others < results / 1000);
  }
}

TEST_CASE("norms without what they need are refused") {
  const Norm norm = shaped("aten::layer_norm", {3, 8}, 1);
  CHECK_THROWS_WITH(lowered(norm, -1.0, false, "integer(8, 4)", "integer(8, 4)"),
                    Catch::Contains("eps"));
  Norm kept = grouped("aten::instance_norm", {3, 2, 5}, 3);
  kept.arguments = {{"use_input_stats", Value(false)}};
  CHECK_THROWS_WITH(lowered(kept, 1e-5, false, "integer(8, 4)", "integer(8, 4)"),
                    Catch::Contains("fuse_batch_norm"));
  Sketch sketch;
  const auto x = sketch.input({2, 4}, {{"data_out", "integer(8, 4)"}});
  const auto y =
      sketch.call("aten::layer_norm", {{"input", ref(x)}, {"normalized_shape", list({4})}}, {2, 4});
  CHECK_THROWS_WITH(integer::lower(sketch.finish(y)), Catch::Contains("needs a grid"));
}
