// SPDX-License-Identifier: Apache-2.0
// Functions of inputs of 17 bits and more: straight pieces in octaves against the functions.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "hardware/integer/interpreter.hpp"
#include "hardware/integer/lowering/element_step.hpp"
#include "hardware/integer/lowering/function_step.hpp"
#include "sketch.hpp"

using namespace mase;
using namespace mase::test;
using namespace mase::integer;

namespace {

/// A function, and the bits of the whole part and sign of its input and of its result.
struct WideSmooth {
  std::string op;
  double (*function)(double);
  int head, to_head;
  bool is_signed = true;
};

const std::vector<WideSmooth> wide_functions{
    {"aten::gelu", [](double x) { return x / 2 * std::erfc(-x / std::sqrt(2.0)); }, 5, 5},
    {"aten::sigmoid", [](double x) { return (1 + std::tanh(x / 2)) / 2; }, 6, 1},
    {"aten::tanh", [](double x) { return std::tanh(x); }, 4, 2},
    {"aten::silu", [](double x) { return x / (1 + std::exp(-x)); }, 5, 5},
    {"aten::exp", [](double x) { return std::exp(x); }, 4, 6},
    {"aten::log", [](double x) { return std::log(x); }, 6, 5, false},
    {"aten::reciprocal", [](double x) { return 1 / x; }, 8, 3, false},
    {"aten::rsqrt", [](double x) { return 1 / std::sqrt(x); }, 8, 4, false},
};

std::string octave_format(const FixedType& type) {
  return "integer(" + std::to_string(type.width) + ", " + std::to_string(type.frac) +
         (type.is_signed ? ")" : ", is_signed=false)");
}

Program function_program(const std::string& op, const FixedType& from, const FixedType& to) {
  Sketch sketch;
  const auto x = sketch.input({2, 16}, {{"data_out", octave_format(from)}});
  return lower(sketch.finish(
      sketch.call(op, {{"self", ref(x)}}, {2, 16}, {{"data_out", octave_format(to)}})));
}

/// All codes of at most 20 bits; of wider types random ones of every magnitude, and the ends.
Codes codes_to_try(const FixedType& type, Random& random) {
  Codes codes;
  if (type.width <= 20) {
    for (Wide code = type.low(); code <= type.high(); ++code)
      codes.push_back(static_cast<std::int64_t>(code));
    return codes;
  }
  for (std::int64_t end = static_cast<std::int64_t>(type.high()); end > 0; end /= 2)
    for (int i = 0; i < 4096; ++i) {
      const auto code = i < 2
                            ? end - i * (end / 2)
                            : static_cast<std::int64_t>(random.uniform() * (end / 2 + 1)) + end / 2;
      codes.push_back(std::min(code, end));
      if (type.is_signed) codes.push_back(-1 - codes.back());
    }
  return codes;
}

double largest_distance(const FunctionStep& step, const WideSmooth& smooth, const FixedType& from,
                        const FixedType& to) {
  Random random(3);
  const Codes codes = codes_to_try(from, random), results = step.results(codes);
  double largest = 0;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const double exact = smooth.function(std::ldexp(static_cast<double>(codes[i]), -from.frac));
    const double place = std::clamp(std::ldexp(exact, to.frac), static_cast<double>(to.low()),
                                    static_cast<double>(to.high()));
    largest = std::max(largest, std::abs(static_cast<double>(results[i]) - place));
  }
  return largest;
}

const OctavePieces& octaves_of(const Program& program) {
  return std::get<OctavePieces>(program.steps.at(0).operation);
}

}  // namespace

TEST_CASE("functions of 17 to 62 bits are within one place of the real ones") {
  for (const WideSmooth& smooth : wide_functions)
    for (const int width : {17, 20, 25, 40, 62})
      for (const int to_width : {8, 14}) {
        INFO(smooth.op << " of " << width << " bits to " << to_width);
        const FixedType from{width, width - smooth.head, smooth.is_signed};
        const FixedType to{to_width, to_width - smooth.to_head, true};
        const FunctionStep step =
            octave_step({smooth.op, from, smooth.function}, {to}, interval_of(to), 1.0);
        const auto& pieces = std::get<OctavePieces>(step.operation);
        const double distance = largest_distance(step, smooth, from, to);
        // The two ways to compute a function differ in the last bits of a double.
        const double said = pieces.largest_error + 1e-6;
        CHECK(said <= 1.0 + 1e-6);
        CHECK(distance <= said);
        // All codes of 20 bits were seen there, too.
        if (width <= 20) CHECK(distance == Approx(said).margin(1e-5));
        CHECK(pieces.slope.size() <= 4096);
      }
}

TEST_CASE("functions of wide streams run as the steps that were measured") {
  const FixedType from{25, 20, true}, to{8, 4, true};
  const WideSmooth& gelu = wide_functions.front();
  const Program program = function_program(gelu.op, from, to);
  Random random(4);
  Codes codes = codes_to_try(from, random);
  codes.resize(codes.size() / 16 * 16);
  const FunctionStep step = octave_step({gelu.op, from, gelu.function}, {to}, interval_of(to), 1.0);
  CHECK(Interpreter(program).run({codes}, std::ssize(codes) / 16).at(0) == step.results(codes));
  CHECK_THAT(program_text(program),
             Catch::Contains("gelu(") && Catch::Contains(" octaves, off by"));
}

TEST_CASE("what is wide for its small numbers takes octaves, what is smooth everywhere takes few") {
  const FixedType from{30, 22, false};
  const OctavePieces poles = octaves_of(function_program("aten::reciprocal", from, {12, 8, true}));
  CHECK(poles.octave_bits >= 4);
  CHECK(poles.slope.size() <= 1024);
  const OctavePieces smooth = octaves_of(function_program("aten::sigmoid", {30, 25, true}, {8, 7}));
  CHECK(smooth.octave_bits == 2);
  CHECK(smooth.slope.size() <= 64);
}

TEST_CASE("a jump between two inputs that nobody looked at is no smooth function") {
  Sketch sketch;
  const auto x = sketch.input({2, 16}, {{"data_out", "integer(30, 20)"}});
  const auto shrunk =
      sketch.call("aten::hardshrink", {{"self", ref(x)}}, {2, 16}, {{"data_out", "integer(8, 4)"}});
  CHECK_THROWS_WITH(lower(sketch.finish(shrunk)), Catch::Contains("straight pieces is off by") &&
                                                      Catch::Contains("at most 12 bits"));
}

TEST_CASE("elements are as fine beside a number as the block of it alone has them") {
  const auto step = [](const std::string& format, double number) {
    return element_step(*block_levels_of(formats::parse_format(format)), number);
  };
  // Three bits behind the leading one, down to the least normal number 2^-6 of the least scale.
  const std::string floats = "mxfp8_e4m3(block_size=4, exponent_min=-3, exponent_max=0)";
  CHECK(step(floats, 100) == 8);
  CHECK(step(floats, -1.5) == 0.125);
  CHECK(step(floats, 0) == std::ldexp(1.0, -3 - 9));
  // Six bits behind the point of a block's exponent, that of its greatest number.
  const std::string integers = "mxint8(block_size=4, exponent_min=-3, exponent_max=1)";
  CHECK(step(integers, 2.5) == std::ldexp(1.0, 1 - 6));
  CHECK(step(integers, 0.3) == std::ldexp(1.0, -2 - 6));
  CHECK(step(integers, 0.001) == std::ldexp(1.0, -3 - 6));
}

TEST_CASE("a wide input has the element of the function, or a neighbour, whatever its width") {
  const auto levels = levels_of(formats::parse_format("fp8_e4m3()"));
  const WideSmooth& gelu = wide_functions.front();
  for (const int width : {14, 20, 30}) {
    const FixedType from{width, width - gelu.head, true};
    Sketch sketch;
    const auto x = sketch.input({2, 16}, {{"data_out", octave_format(from)}});
    const Program program = lower(sketch.finish(
        sketch.call(gelu.op, {{"self", ref(x)}}, {2, 16}, {{"data_out", "fp8_e4m3()"}})));
    CHECK(octaves_of(program).largest_error <= 0.25);
    Random random(6);
    Codes codes = codes_to_try(from, random);
    codes.resize(codes.size() / 16 * 16);
    const Codes results = Interpreter(program).run({codes}, std::ssize(codes) / 16).at(0);
    const int frac = program.value(program.outputs[0]).type.frac;
    std::int64_t far = 0, equal = 0;
    for (std::size_t i = 0; i < codes.size(); ++i) {
      const double exact = gelu.function(std::ldexp(static_cast<double>(codes[i]), -from.frac));
      const double result = std::ldexp(static_cast<double>(results[i]), -frac);
      const double off = 0.2501 * element_step(*levels, exact);
      const auto code = static_cast<std::int64_t>(std::ldexp(result, levels->type.frac));
      far += code < levels->code_of(exact - off) || code > levels->code_of(exact + off) ? 1 : 0;
      equal += code == levels->code_of(exact) ? 1 : 0;
    }
    CHECK(far == 0);
    CHECK(equal > std::ssize(codes) * 3 / 4);
  }
}
