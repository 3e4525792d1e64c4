// SPDX-License-Identifier: Apache-2.0
// Quotients, means, softmax and norms whose results are numbers of element formats: those of exact
// quotients against the reference, those of functions between what the format makes of both ends of
// their bounds.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "hardware/integer/interpreter.hpp"
#include "reference_evaluation.hpp"
#include "sketch.hpp"

using namespace mase;
using namespace mase::test;
using integer::Codes;
using ir::Value;

namespace {

const std::vector<std::string> element_formats{
    "fp8_e4m3()",           "fp8_e5m2()", "fp6_e3m2()", "fp6_e2m3()", "fp4_e2m1()",
    "minifloat_ieee(5, 2)", "log(4)",     "log(5)",     "binary()",   "ternary(threshold=0.375)"};

/// One node of one or two inputs, whose result has a format of its own, or what its reader asks.
void check_result(const std::string& op, const std::vector<ir::Argument>& arguments,
                  const Shape& in, const Shape& out, const std::string& format, bool by_reader,
                  const std::string& data = "integer(9, 4)") {
  INFO(op << " to " << format << (by_reader ? " for its reader" : "") << " of " << data);
  Sketch sketch;
  const auto x = sketch.input(in, {{"data_out", data}});
  std::vector<ir::Argument> given{{"self", ref(x)}};
  if (op == "aten::div.Tensor" && arguments.empty()) {
    const auto y = sketch.input(in, {{"data_out", "integer(5, 1)"}});
    given.emplace_back("other", ref(y));
  }
  given.insert(given.end(), arguments.begin(), arguments.end());
  auto y = sketch.call(op, given, out, by_reader ? Formats{} : Formats{{"data_out", format}});
  if (by_reader) y = sketch.linear(y, 3, {{"data_in", format}, {"weight", "fp4_e2m1()"}}, 1, false);
  check_against_reference(sketch.finish(y), 12);
}

struct OnLevels {
  integer::Program program;
  formats::Format format;

  /// The results for numbers of the input.
  Codes run(Codes x) const {
    const auto& code = program.value(program.inputs[0]).code;
    for (std::int64_t& number : x)
      if (code) number = code->code(number).value();
    return integer::Interpreter(program).run({x}, 1).at(0);
  }
  /// Whether a code is what the format makes of a number within so much of the real one.
  bool is_near(std::int64_t code, double real, double bound) const {
    const auto& type = program.value(program.outputs[0]).type;
    const Real value = static_cast<Real>(std::ldexp(static_cast<double>(code), -type.frac));
    return value >= element(static_cast<Real>(real - bound), format) &&
           value <= element(static_cast<Real>(real + bound), format);
  }
};

/// A function along the last dimension of [2, shape...].
OnLevels on_levels(const std::string& op, std::vector<ir::Argument> arguments, const Shape& shape,
                   const std::string& in, const std::string& out) {
  Sketch sketch;
  const auto x = sketch.input(shape, {{"data_out", in}});
  arguments.insert(arguments.begin(), {op == "aten::layer_norm" ? "input" : "self", ref(x)});
  const auto y = sketch.call(op, arguments, shape, {{"data_out", out}});
  return {integer::lower(sketch.finish(y)), formats::parse_format(out)};
}

/// Rows of numbers that the input has, in units of its last place: at random, close together, one
/// apart from all others.
Codes rows_of(const integer::Program& program, std::int64_t length, std::int64_t rows) {
  Random random(3);
  const auto& type = program.value(program.inputs[0]).type;
  const auto& levels = program.input_levels[0];
  Codes all;
  if (levels) all = levels->codes;
  const int below = std::max(0, type.width - 16);
  for (std::int64_t i = 0; !levels && i < std::int64_t{1} << (type.width - below); ++i)
    all.push_back(static_cast<std::int64_t>(type.low()) + (i << below) + (below > 0 ? i % 2 : 0));
  const std::size_t count = all.size();
  Codes codes;
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::size_t level = random.below(count);
    for (std::int64_t i = 0; i < length; ++i) {
      const std::size_t kinds[] = {random.below(count),
                                   i == row % length ? random.below(count) : level,
                                   std::min(count - 1, level + random.below(8)), level,
                                   count / 2 + random.below(count) / 16};
      codes.push_back(all[std::min(kinds[row % 5], count - 1)]);
    }
  }
  return codes;
}

std::vector<double> values_of(const OnLevels& made, const Codes& codes) {
  const int frac = made.program.value(made.program.inputs[0]).type.frac;
  std::vector<double> values;
  for (const std::int64_t code : codes)
    values.push_back(std::ldexp(static_cast<double>(code), -frac));
  return values;
}

using Row = std::vector<double>;

/// Counts the results that are not near those of a function of every row.
template <class Function>
int count_far(const OnLevels& made, std::int64_t length, double bound, Function function) {
  const std::int64_t rows = made.program.value(made.program.inputs[0]).elements() / length;
  const Codes x = rows_of(made.program, length, rows);
  const std::vector<double> values = values_of(made, x);
  const Codes y = made.run(x);
  int far = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto first = values.begin() + row * length;
    const Row real = function(Row(first, first + length));
    for (std::int64_t i = 0; i < length; ++i)
      far += !made.is_near(y[static_cast<std::size_t>(row * length + i)],
                           real[static_cast<std::size_t>(i)], bound);
  }
  return far;
}

Row softmax_of_row(Row x) {
  const double top = *std::max_element(x.begin(), x.end());
  double sum = 0;
  for (double& one : x) sum += one = std::exp(one - top);
  for (double& one : x) one /= sum;
  return x;
}

Row log_softmax_of_row(Row x) {
  const double top = *std::max_element(x.begin(), x.end());
  double sum = 0;
  for (const double one : x) sum += std::exp(one - top);
  for (double& one : x) one -= top + std::log(sum);
  return x;
}

Row norm_of(Row x) {
  const auto n = static_cast<double>(x.size());
  double sum = 0, squares = 0;
  for (const double one : x) sum += one;
  for (const double one : x) squares += (one - sum / n) * (one - sum / n);
  for (double& one : x) one = squares == 0 ? 0 : (one - sum / n) / std::sqrt(squares / n + 1e-5);
  return x;
}

}  // namespace

TEST_CASE("means, averages and quotients are rounded once to the numbers of element formats") {
  const ir::Argument kernel{"kernel_size", list({3, 3})};
  for (const std::string& format : element_formats)
    for (const bool by_reader : {false, true}) {
      check_result("aten::avg_pool2d", {kernel}, {2, 3, 6, 9}, {2, 3, 2, 3}, format, by_reader);
      check_result("aten::avg_pool2d",
                   {kernel, {"padding", list({1, 1})}, {"count_include_pad", Value(false)}},
                   {2, 2, 5, 5}, {2, 2, 2, 2}, format, by_reader, "fp6_e3m2()");
      check_result("aten::mean.dim", {{"dim", list({1})}, {"keepdim", Value(false)}}, {2, 7, 5},
                   {2, 5}, format, by_reader);
      check_result("aten::div.Scalar", {{"other", Value(1.75)}}, {2, 40}, {2, 40}, format,
                   by_reader);
      check_result("aten::div.Tensor", {}, {2, 400}, {2, 400}, format, by_reader);
    }
}

TEST_CASE("results of softmax in element formats are within its bound of the real one") {
  for (const std::string& out : element_formats)
    for (const std::string in : {"integer(8, 4)", "fp8_e4m3()", "fp4_e2m1()"})
      for (const std::int64_t length : {1, 5, 32}) {
        INFO(in << " to " << out << ", rows of " << length);
        const OnLevels made = on_levels("aten::softmax.int", {{"dim", Value(std::int64_t{-1})}},
                                        {2, 400, length}, in, out);
        const bool pieces = in == "fp8_e4m3()";
        const double bound = std::ldexp(static_cast<double>(length + 1), pieces ? -16 : -17);
        CHECK(count_far(made, length, bound, softmax_of_row) == 0);
      }
}

TEST_CASE("a softmax of any width is within its bound of the real one") {
  for (const std::string in : {"fp8_e5m2()", "integer(17, 4)", "integer(18, 14)"})
    for (const std::int64_t length : {2, 33}) {
      INFO(in << ", rows of " << length);
      const OnLevels made = on_levels("aten::softmax.int", {{"dim", Value(std::int64_t{-1})}},
                                      {2, 400, length}, in, "fp8_e5m2()");
      // Exponentials in pieces, of distances that are rounded to 12 fraction bits.
      const double bound = std::ldexp(static_cast<double>(length + 1), -16) + std::ldexp(1.0, -12);
      CHECK(count_far(made, length, bound, softmax_of_row) == 0);
    }
}

TEST_CASE("a log_softmax of any width is within its bound of the real one") {
  for (const std::string in : {"fp8_e5m2()", "fp8_e4m3()", "integer(30, 20)", "integer(17, -3)"})
    for (const int frac : {-14, -12, -10, -8, -6, -5, -4, -3, -2, -1, 0, 1, 2, 4, 6, 9}) {
      const std::int64_t length = 9, rows = 60;
      const OnLevels made =
          on_levels("aten::log_softmax.int", {{"dim", Value(std::int64_t{-1})}}, {2, rows, length},
                    in, "integer(32, " + std::to_string(frac) + ")");
      const Codes x = rows_of(made.program, length, rows);
      const std::vector<double> values = values_of(made, x);
      const Codes y = made.run(x);
      double worst = 0;
      for (std::int64_t row = 0; row < rows; ++row) {
        const auto first = values.begin() + row * length;
        const Row real = log_softmax_of_row(Row(first, first + length));
        for (std::size_t i = 0; i < static_cast<std::size_t>(length); ++i) {
          const auto code = static_cast<double>(y[static_cast<std::size_t>(row * length) + i]);
          const double exact = std::clamp(std::ldexp(real[i], frac), -0x1p31, 0x1p31);
          worst = std::max(worst, std::abs(code - exact));
        }
      }
      // Half a place, exponentials in pieces of rounded distances, and the tables of logarithms.
      const double bound = 0.5 + std::ldexp(static_cast<double>(length), std::max(-10, frac - 15)) +
                           std::ldexp(1.0, frac - 12) + std::ldexp(1.0, -8);
      INFO(in << " to " << frac << " fraction bits: off by " << worst);
      CHECK(worst <= bound);
    }
}

TEST_CASE("results of log_softmax in element formats are within its bound of the real one") {
  for (const std::string out : {"fp8_e4m3()", "fp6_e3m2()", "log(5)"})
    for (const std::string in : {"integer(8, 4)", "fp6_e2m3()"})
      for (const std::int64_t length : {1, 10}) {
        INFO(in << " to " << out << ", rows of " << length);
        const OnLevels made = on_levels("aten::log_softmax.int", {{"dim", Value(std::int64_t{-1})}},
                                        {2, 400, length}, in, out);
        CHECK(count_far(made, length, 3 * std::ldexp(1.0, -17), log_softmax_of_row) == 0);
      }
  CHECK_THROWS_WITH(on_levels("aten::log_softmax.int", {{"dim", Value(std::int64_t{-1})}},
                              {2, 4, 4}, "integer(8, 4)", "fp8_e5m2()"),
                    Catch::Contains("16 fraction bits") && Catch::Contains("at most 13"));
}

TEST_CASE("results of norms in element formats are within their bound of the real one") {
  for (const std::string& out : element_formats)
    for (const std::string in : {"integer(8, 4)", "fp6_e3m2()", "fp8_e4m3()"})
      for (const std::int64_t length : {1, 6, 32}) {
        INFO(in << " to " << out << ", rows of " << length);
        const OnLevels made = on_levels("aten::layer_norm", {{"normalized_shape", list({length})}},
                                        {2, 400, length}, in, out);
        // A quarter of the last place, as norm.cpp says.
        const int frac = made.program.value(made.program.outputs[0]).type.frac;
        CHECK(count_far(made, length, std::ldexp(0.26, -frac), norm_of) == 0);
      }
}
