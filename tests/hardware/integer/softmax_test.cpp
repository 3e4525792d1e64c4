// SPDX-License-Identifier: Apache-2.0
// Softmax against the real function: every result within the bound that lowering/softmax.cpp
// states.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "hardware/integer/interpreter.hpp"
#include "sketch.hpp"

using namespace mase;
using namespace mase::test;
using integer::Codes;
using ir::Value;

namespace {

const std::string log_softmax = "aten::log_softmax.int";

/// Softmax along a dimension of [2, shape...] with these formats.
integer::Program softmax(const Shape& shape, std::int64_t dim, const std::string& in,
                         const std::string& out, const std::string& op = "aten::softmax.int") {
  Sketch sketch;
  const auto x = sketch.input(shape, {{"data_out", in}});
  return integer::lower(sketch.finish(
      sketch.call(op, {{"self", ref(x)}, {"dim", Value(dim)}}, shape, {{"data_out", out}})));
}

/// log_softmax of a row of codes, as real numbers.
std::vector<double> log_softmax_of(const std::int64_t* row, std::int64_t length, int frac) {
  std::vector<double> x;
  for (std::int64_t i = 0; i < length; ++i)
    x.push_back(std::ldexp(static_cast<double>(row[i]), -frac));
  const double top = *std::max_element(x.begin(), x.end());
  double sum = 0;
  for (const double one : x) sum += std::exp(one - top);
  for (double& one : x) one -= top + std::log(sum);
  return x;
}

/// How far below the largest of 64 codes the others lie where the rounding of their exponentials to
/// 15 fraction bits moves the largest result most.
std::int64_t worst_distance(const integer::FixedType& type) {
  const auto most = static_cast<std::int64_t>(type.high() - type.low());
  std::int64_t worst = 0;
  double largest = 0;
  for (std::int64_t distance = 1; distance <= most; ++distance) {
    const double real = std::exp(-std::ldexp(static_cast<double>(distance), -type.frac)),
                 entry = std::ldexp(std::nearbyint(std::ldexp(real, 15)), -15),
                 moved = std::abs(1 / (1 + 63 * real) - 1 / (1 + 63 * entry));
    if (moved <= largest) continue;
    largest = moved;
    worst = distance;
  }
  return worst;
}

/// Rows with every code, all alike, at both ends, at random, and with the worst distance.
Codes rows_of(const integer::FixedType& type, std::int64_t length, std::int64_t rows) {
  Random random(3);
  const auto low = static_cast<std::int64_t>(type.low()),
             high = static_cast<std::int64_t>(type.high()), worst = worst_distance(type);
  Codes codes;
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t i = 0; i < length; ++i) {
      const std::int64_t any =
          low + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(high - low + 1)));
      const std::int64_t each = low + (row * length + i) % (high - low + 1);
      const std::int64_t kinds[] = {
          any,    each, high, i == row % length ? high : low, i == row % length ? low + worst : low,
          any / 8};
      codes.push_back(kinds[row % 6]);
    }
  return codes;
}

}  // namespace

TEST_CASE("every result of softmax is within its bound of the real one") {
  for (const auto& [in, in_frac] :
       std::vector<std::pair<std::string, int>>{{"integer(8, 4)", 4},
                                                {"integer(8, 0)", 0},
                                                {"integer(4, 1)", 1},
                                                {"integer(12, 8)", 8},
                                                {"integer(16, 11)", 11},
                                                {"integer(13, 6, is_signed=false)", 6},
                                                {"integer(7, 5, is_signed=false)", 5},
                                                {"integer(1, 0, is_signed=false)", 0}})
    for (const std::int64_t length : {1, 2, 7, 64})
      for (const auto& [frac, down] :
           std::vector<std::pair<int, bool>>{{4, false}, {8, false}, {12, false}, {12, true}}) {
        const std::int64_t rows = 1000;
        const auto program =
            softmax({2, rows, length}, -1, in,
                    "integer(" + std::to_string(frac + 1) + ", " + std::to_string(frac) +
                        ", is_signed=false, rounding=" + (down ? "floor" : "nearest_even") + ")");
        const Codes x = rows_of(program.value(program.inputs[0]).type, length, rows);
        integer::Interpreter interpreter(program);
        const Codes y = interpreter.run({x}, 1).at(0);
        // Half a place, or a whole one, and what the table's entries are off by, half of their last
        // place, or those of pieces, a whole one.
        const bool pieces = program.value(program.inputs[0]).type.width > 12;
        const double bound =
            (down ? 1 : 0.5) + std::ldexp(static_cast<double>(length), frac - (pieces ? 15 : 16));
        double worst = 0;
        for (std::int64_t row = 0; row < rows; ++row) {
          const std::int64_t* first = x.data() + row * length;
          double sum = 0;
          const auto power = [&](std::int64_t i) {
            const auto top = static_cast<double>(*std::max_element(first, first + length));
            return std::exp(std::ldexp(static_cast<double>(first[i]) - top, -in_frac));
          };
          for (std::int64_t i = 0; i < length; ++i) sum += power(i);
          for (std::int64_t i = 0; i < length; ++i)
            worst = std::max(
                worst, std::abs(static_cast<double>(y[static_cast<std::size_t>(row * length + i)]) -
                                std::ldexp(power(i) / sum, frac)));
        }
        INFO(in << " rows of " << length << " to " << frac << " fraction bits: off by " << worst);
        CHECK(worst <= bound);
      }
}

TEST_CASE("every result of log_softmax is within its bound of the real one") {
  for (const auto& [in, in_frac] :
       std::vector<std::pair<std::string, int>>{{"integer(8, 4)", 4},
                                                {"integer(8, 5)", 5},
                                                {"integer(6, -1)", -1},
                                                {"integer(12, 8)", 8},
                                                {"integer(16, 11)", 11},
                                                {"integer(7, 5, is_signed=false)", 5}})
    for (const std::int64_t length : {1, 2, 10, 64, 300})
      for (const int frac : {-12, -2, 0, 4, 7, 9, 13}) {
        const std::int64_t rows = 200;
        const auto program = softmax({2, rows, length}, -1, in,
                                     "integer(24, " + std::to_string(frac) + ")", log_softmax);
        const Codes x = rows_of(program.value(program.inputs[0]).type, length, rows);
        integer::Interpreter interpreter(program);
        const Codes y = interpreter.run({x}, 1).at(0);
        // Half a place, and what sum and logarithms are off by; exponentials in pieces have no more
        // than 15 fraction bits, and a sum no more than 17.
        const bool pieces = program.value(program.inputs[0]).type.width > 12;
        const double exponentials =
            pieces ? std::ldexp(static_cast<double>(length), frac - 15) : std::ldexp(1.0, -10);
        const double bound = 0.5 + exponentials + std::ldexp(1.0, std::max(-10, frac - 17)) +
                             std::ldexp(1.0, std::max(-10, frac - 18));
        double worst = 0;
        for (std::int64_t row = 0; row < rows; ++row) {
          const std::vector<double> real = log_softmax_of(x.data() + row * length, length, in_frac);
          for (std::int64_t i = 0; i < length; ++i)
            worst = std::max(
                worst, std::abs(static_cast<double>(y[static_cast<std::size_t>(row * length + i)]) -
                                std::ldexp(real[static_cast<std::size_t>(i)], frac)));
        }
        INFO(in << " rows of " << length << " to " << frac << " fraction bits: off by " << worst);
        CHECK(worst <= bound);
      }
}

TEST_CASE("999 of 1000 results of log_softmax are the nearest ones") {
  for (const int frac : {3, 5, 7}) {
    const std::int64_t rows = 20'000, length = 10;
    const auto program = softmax({2, rows, length}, -1, "integer(8, 4)",
                                 "integer(24, " + std::to_string(frac) + ")", log_softmax);
    Random random(5);
    Codes x;
    for (std::int64_t i = 0; i < rows * length; ++i)
      x.push_back(static_cast<std::int64_t>(random.below(256)) - 128);
    const Codes y = integer::Interpreter(program).run({x}, 1).at(0);
    std::int64_t nearest = 0;
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::vector<double> real = log_softmax_of(x.data() + row * length, length, 4);
      for (std::int64_t i = 0; i < length; ++i)
        nearest += static_cast<double>(y[static_cast<std::size_t>(row * length + i)]) ==
                   std::nearbyint(std::ldexp(real[static_cast<std::size_t>(i)], frac));
    }
    INFO(frac << " fraction bits: " << nearest << " of " << rows * length);
    CHECK(nearest * 1000 >= rows * length * 999);
  }
}

TEST_CASE("log_softmax to more places than its tables have is refused") {
  CHECK_THROWS_WITH(softmax({2, 4}, 1, "integer(8, 4)", "integer(20, 14)", log_softmax),
                    Catch::Contains("14 fraction bits") && Catch::Contains("at most 13"));
}

TEST_CASE("softmax goes along any dimension, however its stream lies") {
  const auto along_rows = softmax({2, 5, 3}, 2, "integer(8, 4)", "integer(9, 8, is_signed=false)");
  const auto along_columns =
      softmax({2, 3, 5}, 1, "integer(8, 4)", "integer(9, 8, is_signed=false)");
  const auto& rows = along_rows.value(along_rows.inputs[0]);
  const auto& columns = along_columns.value(along_columns.inputs[0]);
  const Codes x = rows_of(rows.type, 3, 5);  // [5, 3] in torch's order
  // A stream's codes from those of torch's order, and back.
  const auto place = [](const integer::StreamValue& value, std::size_t i) {
    return value.order.empty() ? i : static_cast<std::size_t>(value.order[i]);
  };
  const auto transposed = [](std::size_t i) { return i % 5 * 3 + i / 5; };  // of [3, 5] in [5, 3]
  Codes a(15), b(15), y(15), z(15);
  for (std::size_t i = 0; i < 15; ++i) a[i] = x[place(rows, i)];
  for (std::size_t i = 0; i < 15; ++i) b[i] = x[transposed(place(columns, i))];
  const Codes from_rows = integer::Interpreter(along_rows).run({a}, 1).at(0);
  const Codes from_columns = integer::Interpreter(along_columns).run({b}, 1).at(0);
  for (std::size_t i = 0; i < 15; ++i) {
    y[place(along_rows.value(along_rows.outputs[0]), i)] = from_rows[i];
    z[transposed(place(along_columns.value(along_columns.outputs[0]), i))] = from_columns[i];
  }
  CHECK(y == z);
}

TEST_CASE("softmax without a grid for its results is refused") {
  Sketch sketch;
  const auto x = sketch.input({2, 4}, {{"data_out", "integer(8, 4)"}});
  const auto y = sketch.call("aten::softmax.int", {{"self", ref(x)}, {"dim", Value(1)}}, {2, 4});
  CHECK_THROWS_WITH(integer::lower(sketch.finish(y)), Catch::Contains("needs a grid"));
}

TEST_CASE("softmax to float32 is softmax, to another type it is refused") {
  const auto typed = [](DType type) {
    Sketch sketch;
    const auto x = sketch.input({2, 4}, {{"data_out", "integer(8, 4)"}});
    const auto y =
        sketch.call("aten::softmax.int", {{"self", ref(x)}, {"dim", Value(1)}, {"dtype", Value(6)}},
                    {2, 4}, {{"data_out", "integer(8, 7)"}});
    sketch.graph.node(y).info.dtype = type;
    return integer::lower(sketch.finish(y)).steps.size();
  };
  CHECK(typed(DType::float32) == softmax({2, 4}, 1, "integer(8, 4)", "integer(8, 7)").steps.size());
  CHECK_THROWS_WITH(typed(DType::float64), Catch::Contains("of another type"));
}
