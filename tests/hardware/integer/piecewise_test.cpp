// SPDX-License-Identifier: Apache-2.0
// Functions of wide inputs: tables and straight pieces against the functions, over all input codes.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "hardware/integer/faults.hpp"
#include "hardware/integer/interpreter.hpp"
#include "hardware/integer/lowering/fit_piecewise.hpp"
#include "sketch.hpp"

using namespace mase;
using namespace mase::test;
using namespace mase::integer;

namespace {

using Function = double (*)(double);

/// A function and the grids on which pieces can have it.
struct SmoothFunction {
  std::string op;
  Function function;
  int head;  ///< bits of the input's whole part and sign
  bool is_signed;
  int to_head;        ///< the same of a result of 8 bits
  int to_head_of_16;  ///< and of one of 16
};

const std::vector<SmoothFunction> smooth_functions{
    {"aten::gelu", [](double x) { return x / 2 * std::erfc(-x / std::sqrt(2.0)); }, 4, true, 4, 4},
    {"aten::silu", [](double x) { return x / (1 + std::exp(-x)); }, 4, true, 3, 3},
    {"aten::tanh", [](double x) { return std::tanh(x); }, 4, true, 2, 2},
    {"aten::sigmoid", [](double x) { return (1 + std::tanh(x / 2)) / 2; }, 5, true, 1, 1},
    {"aten::exp", [](double x) { return std::exp(x); }, 4, true, 5, 5},
    {"aten::rsqrt", [](double x) { return 1 / std::sqrt(x); }, 8, false, 2, 0},
    {"aten::softplus", [](double x) { return std::log(1 + std::exp(x)); }, 4, true, 4, 4},
    {"aten::elu", [](double x) { return x > 0 ? x : std::exp(x) - 1; }, 4, true, 3, 3},
    {"aten::mish", [](double x) { return x * std::tanh(std::log(1 + std::exp(x))); }, 3, true, 3,
     3},
};

std::string format_text(const std::string& name, const FixedType& type) {
  return name + "(" + std::to_string(type.width) + ", " + std::to_string(type.frac) +
         (type.is_signed ? ")" : ", is_signed=false)");
}

ir::Graph function_graph(const std::string& op, const std::string& in, const std::string& out) {
  Sketch sketch;
  const auto x = sketch.input({2, 16}, {{"data_out", in}});
  return sketch.finish(sketch.call(op, {{"self", ref(x)}}, {2, 16}, {{"data_out", out}}));
}

Codes all_codes(const FixedType& type) {
  Codes codes;
  for (Wide code = type.low(); code <= type.high(); ++code)
    codes.push_back(static_cast<std::int64_t>(code));
  return codes;
}

/// The largest distance of a program's results from the function's, clamped, in units of the last
/// place of `to`, over all codes of `from`.
double measured_error(const Program& program, Function function, const FixedType& from,
                      const FixedType& to) {
  const Codes codes = all_codes(from);
  const Codes results =
      Interpreter(program).run({codes}, static_cast<std::int64_t>(codes.size()) / 16).at(0);
  double largest = 0;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const double exact = function(std::ldexp(static_cast<double>(codes[i]), -from.frac));
    const double place = std::clamp(std::ldexp(exact, to.frac), static_cast<double>(to.low()),
                                    static_cast<double>(to.high()));
    largest = std::max(largest, std::abs(static_cast<double>(results[i]) - place));
  }
  return largest;
}

const Piecewise* piecewise_of(const Program& program) {
  return std::get_if<Piecewise>(&program.steps.at(0).operation);
}

PiecewiseTarget parabola(int width, double curvature) {
  PiecewiseTarget target{"parabola", {}, {0, 1 << 20}, 1.0};
  for (int x = 0; x < 1 << width; ++x) target.places.push_back(curvature * x * x);
  return target;
}

}  // namespace

TEST_CASE("functions of 11 to 16 bits are within one place of the real ones on every code") {
  for (const SmoothFunction& smooth : smooth_functions)
    for (const int width : {11, 12, 13, 16})
      for (const int to_width : {8, 16}) {
        INFO(smooth.op << " of " << width << " bits to " << to_width);
        const FixedType from{width, width - smooth.head, smooth.is_signed};
        const int head = to_width == 8 ? smooth.to_head : smooth.to_head_of_16;
        const FixedType to{to_width, to_width - head, true};
        const Program program = lower(
            function_graph(smooth.op, format_text("integer", from), format_text("integer", to)));
        const double error = measured_error(program, smooth.function, from, to);
        // The two ways to compute a function differ in the last bits of a double.
        CHECK(error <= (width > 12 ? 1.0 : 0.5) + 1e-6);
        REQUIRE((piecewise_of(program) != nullptr) == (width > 12));
        if (width > 12) CHECK(piecewise_of(program)->largest_error == Approx(error).margin(1e-6));
      }
}

TEST_CASE("a grid that rounds down is met as closely as one that rounds to nearest") {
  const FixedType from{14, 10, true}, to{8, 5, true};
  const Program program =
      lower(function_graph("aten::tanh", "integer(14, 10)", "integer_floor(8, 5)"));
  // What lies half a place above a code is named by it.
  const auto lowered = [](double x) { return std::tanh(x) - std::ldexp(1.0, -6); };
  CHECK(measured_error(program, lowered, from, to) <= 1.0);
  CHECK(measured_error(program, lowered, from, to) > 0.5);
}

TEST_CASE("a line through a parabola is off by an eighth of its curvature, as Chebyshev has it") {
  for (const int low_bits : {3, 5}) {
    // Over L points t = c*x^2 is off by c * (L - 1)^2 / 8 around its best line.
    const double length = (1 << low_bits) - 1, error = 0.4;
    PiecewiseTarget target = parabola(8, 8 * error / (length * length));
    const FittedPiecewise fitted = fit_piecewise(target);
    CHECK(fitted.table.low_bits == low_bits);
    CHECK(fitted.table.slope.size() == std::size_t{1} << (8 - low_bits));
    // Rounding to a place adds half, an integer slope a sixteenth at both ends of its segment.
    CHECK(fitted.table.largest_error > error);
    CHECK(fitted.table.largest_error <= 0.5 + error + 0.0625);
  }
}

TEST_CASE("what a function is beyond its bounds costs no segments") {
  PiecewiseTarget target{"clamp", {}, {-100, 90}, 0.5};
  for (int x = 0; x < 1 << 14; ++x) target.places.push_back(std::clamp(0.5 * x - 1000, -100., 90.));
  const FittedPiecewise fitted = fit_piecewise(target);
  CHECK(fitted.table.slope.size() == 2);
  CHECK(fitted.table.largest_error <= 0.5);
  // Behind the upper bound nothing rises.
  CHECK(fitted.table.slope[1] == 0);
}

TEST_CASE("what no pieces reach is refused with the error and a remedy") {
  const auto poles = function_graph("aten::reciprocal", "integer(16, 8)", "integer(16, 6)");
  CHECK_THROWS_WITH(lower(poles), Catch::Contains("reciprocal") &&
                                      Catch::Contains("4096 straight pieces is off by up to") &&
                                      Catch::Contains("at most 12 bits") &&
                                      Catch::Contains("coarser data_out"));
  // A step behind the first code of a segment.
  CHECK_THROWS_WITH(lower(function_graph("aten::hardshrink", "integer(16, 8)", "integer(8, 4)")),
                    Catch::Contains("straight pieces"));
}

TEST_CASE("functions whose results are whole are exact in pieces, too") {
  const auto sign = [](double x) { return static_cast<double>((x > 0) - (x < 0)); };
  const FixedType from{16, 8, true};
  CHECK(measured_error(lower(function_graph("aten::sign", "integer(16, 8)", "integer(2, 0)")), sign,
                       from, {2, 0, true}) == 0);
  CHECK(measured_error(lower(function_graph("aten::ceil", "integer(16, 8)", "integer(9, 0)")),
                       [](double x) { return std::ceil(x); }, from, {9, 0, true}) == 0);
}

TEST_CASE("a step in pieces says in its text how far it is off") {
  const Program program = lower(function_graph("aten::gelu", "integer(16, 11)", "integer(8, 4)"));
  CHECK_THAT(program_text(program),
             Catch::Contains("gelu(") && Catch::Contains(" segments, off by at most 0."));
}

TEST_CASE("flipped bits of slopes and bases change the inputs of their segment") {
  const Program program =
      lower(function_graph("aten::sigmoid", "integer(13, 8)", "integer(16, 14)"));
  const Codes codes = all_codes({13, 8, true});
  const std::int64_t frames = static_cast<std::int64_t>(codes.size()) / 16;
  const Codes sound = Interpreter(program).run({codes}, frames).at(0);
  Random random(5);
  const ConstantBits bits(program);
  for (int i = 0; i < 40; ++i) {
    const ConstantBit bit = bits.draw_evenly(random);
    Program broken = program;
    broken.steps.at(0) = flipped(program, bit);
    const Codes results = Interpreter(broken).run({codes}, frames).at(0);
    std::int64_t changed = 0;
    for (std::size_t c = 0; c < codes.size(); ++c) {
      const std::int64_t segment = (codes[c] & 8191) >> piecewise_of(program)->low_bits;
      if (results[c] == sound[c]) continue;
      ++changed;
      REQUIRE(segment == bit.index);
    }
    const std::int64_t shown = FaultSimulator(program).shown_by(bit, {codes}, {sound}, frames);
    CHECK((shown >= 0) == (changed > 0));
  }
}
