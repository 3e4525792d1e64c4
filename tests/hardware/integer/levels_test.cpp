// SPDX-License-Identifier: Apache-2.0
// Levels of element formats: float32 numbers against the formats' own definitions, accumulators
// that no float32 holds against the nearest level by exact distance.
#include "hardware/integer/levels.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "formats/format.hpp"
#include "hardware/integer/datapath.hpp"
#include "hardware/integer/interpreter.hpp"
#include "hardware/integer/steps/quantize.hpp"
#include "sketch.hpp"

namespace mase::integer {
namespace {

using Texts = std::vector<std::string>;

/// Every element format, in several widths and all modes of rounding.
Texts element_formats() {
  return {"fp8_e4m3()",
          "fp8_e5m2()",
          "fp6_e3m2()",
          "fp6_e2m3()",
          "fp4_e2m1()",
          "fp8_e4m3(rounding=floor)",
          "fp4_e2m1(rounding=nearest_away)",
          "minifloat_ieee(8, 3)",
          "minifloat_ieee(5, 2, inf_nan=fn)",
          "minifloat_ieee(3, 2)",
          "minifloat_denorm(8, 4)",
          "minifloat_denorm(5, 2, rounding=floor)",
          "log(4)",
          "log(6)",
          "log(5, 3)",
          "log(4, zero=false)",
          "log(5, rounding=floor)",
          "binary()",
          "binary_residual(2)",
          "binary_residual(3, means=[0.5, 0.25, 0.125])",
          "binary(bipolar=false, scaled=false)",
          "ternary(threshold=0.25)",
          "ternary(max=4.0)"};
}

float quantized(const formats::Format& format, float number) {
  format.quantize({&number, 1}, {&number, 1}, {1});
  return number;
}

/// Levels, the numbers half way between them, both with their neighbours; ends and random numbers.
std::vector<float> telling_numbers(const Levels& levels, Random& random) {
  std::vector<float> numbers{
      0.0F,   -0.0F,  std::numeric_limits<float>::max(), std::numeric_limits<float>::lowest(),
      1e-40F, -1e-40F};
  const auto with_neighbours = [&](double number) {
    const auto at = static_cast<float>(number);
    const float infinity = std::numeric_limits<float>::infinity();
    numbers.insert(numbers.end(),
                   {at, std::nextafter(at, infinity), std::nextafter(at, -infinity)});
  };
  for (std::size_t i = 0; i < levels.codes.size(); ++i) {
    const double level = std::ldexp(static_cast<double>(levels.codes[i]), -levels.type.frac);
    with_neighbours(level);
    if (i == 0) continue;
    const auto below = static_cast<double>(levels.codes[i - 1]);
    with_neighbours((level + std::ldexp(below, -levels.type.frac)) / 2);
  }
  for (int i = 0; i < 200; ++i)
    numbers.push_back(std::ldexp(static_cast<float>(random.uniform()) - 0.5F,
                                 static_cast<int>(random.below(40)) - 20));
  return numbers;
}

/// The level nearest to code / (divisor * 2^frac) by exact distance; of two, the one whose index
/// from 0 up is even, as the bits of its magnitude are.
std::int64_t nearest_level(const Levels& levels, Wide code, int frac, std::int64_t divisor) {
  const int up = std::max(0, levels.type.frac - frac), down = std::max(0, frac - levels.type.frac);
  const Wide x = code << up;
  const auto zero = std::ranges::find(levels.codes, 0) - levels.codes.begin();
  std::size_t best = 0;
  const auto distance = [&](std::size_t i) {
    const Wide level = (Wide{levels.codes[i]} * divisor) << down;
    return x < level ? level - x : x - level;
  };
  for (std::size_t i = 1; i < levels.codes.size(); ++i) {
    const bool even = (static_cast<std::ptrdiff_t>(i) - zero) % 2 == 0;
    if (distance(i) < distance(best) || (distance(i) == distance(best) && even)) best = i;
  }
  return levels.codes[best];
}

}  // namespace

TEST_CASE("the encoder of inputs saturates infinities and refuses NaN, in every element format") {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const std::string& text : element_formats()) {
    INFO(text);
    test::Sketch sketch;
    const Program program = lower(sketch.finish(sketch.input({1, 6}, {{"data_out", text}})));
    const auto levels = levels_of(formats::parse_format(text));
    const auto codes_of = [&](const std::vector<float>& numbers) {
      return encode_input(program, 0, Array::from<float>(numbers, {1, 6}));
    };
    const Codes codes = codes_of({infinity, -infinity, 1e30F, -1e30F, 0.0F, -0.0F});
    const Array numbers = decode_value(program.value(program.inputs[0]), codes, 1);
    const auto decoded = numbers.span<float>();
    const auto level = [&](std::int64_t code) {
      return std::ldexp(static_cast<double>(code), -levels->type.frac);
    };
    CHECK(decoded[0] == level(levels->codes.back()));
    CHECK(decoded[1] == level(levels->codes.front()));
    CHECK((decoded[2] == decoded[0] && decoded[3] == decoded[1] && decoded[4] == decoded[5]));
    CHECK_THROWS_WITH(codes_of({0, 1, -1, std::nanf(""), 2, 3}),
                      Catch::Contains("element 3 is NaN"));
  }
}

TEST_CASE("levels round float32 numbers as their formats do") {
  Random random(3);
  for (const std::string& text : element_formats()) {
    INFO(text);
    const formats::Format format = formats::parse_format(text);
    const auto levels = levels_of(format);
    CHECK(levels->thresholds.size() + 1 == levels->codes.size());
    std::size_t wrong = 0;
    for (const float number : telling_numbers(*levels, random)) {
      const double rounded =
          std::ldexp(static_cast<double>(levels->code_of(number)), -levels->type.frac);
      wrong += rounded != static_cast<double>(quantized(format, number));
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("accumulators go to the nearest level, also where no float32 holds them") {
  Random random(4);
  for (const std::string text : {"fp8_e4m3()", "fp6_e2m3()", "fp4_e2m1()", "minifloat_ieee(7, 3)"})
    for (const std::int64_t divisor : {1, 3, 49}) {
      INFO(text << " / " << divisor);
      const auto levels = levels_of(formats::parse_format(text));
      const int frac = levels->type.frac + static_cast<int>(random.below(30)) - 2;
      const Interval range{-(Wide{1} << 50), (Wide{1} << 50) - 1};
      const Quantize step = quantize_step(*levels, range, frac, divisor);
      std::vector<Wide> codes{range.low, range.high, 0, 1, -1};
      for (const Wide threshold : step.thresholds)
        codes.insert(codes.end(), {threshold - 1, threshold, threshold + 1});
      for (int i = 0; i < 500; ++i)
        codes.push_back(Wide{static_cast<std::int64_t>(random.below(1ULL << 50))} >>
                        random.below(50));
      std::size_t wrong = 0;
      for (const Wide code : codes)
        wrong += step(code) != nearest_level(*levels, code, frac, divisor);
      CHECK(wrong == 0);
    }
}

TEST_CASE("a step has the levels within reach only") {
  const auto levels = levels_of(formats::parse_format("ternary(threshold=0.5)"));
  const Quantize positive = quantize_step(*levels, {0, 100}, 4);
  CHECK(positive.levels == std::vector<std::int64_t>{0, 1});
  CHECK(positive.thresholds == std::vector<Wide>{9});  // 8/16 is the threshold, which is still 0
  CHECK(quantize_step(*levels, {-3, 3}, 4).levels == std::vector<std::int64_t>{0});
}

TEST_CASE("formats without levels of their own are refused with what would do") {
  using Catch::Contains;
  const auto refused = [](const std::string& text) {
    return levels_of(formats::parse_format(text));
  };
  CHECK_THROWS_WITH(refused("minifloat_ieee(16, 5)"), Contains("16 bits"));
  CHECK_THROWS_WITH(refused("log(8)"), Contains("fewer bits of exponent"));
  CHECK_THROWS_WITH(refused("fp8_e5m2(saturate=false)"), Contains("saturate = true"));
  CHECK_THROWS_WITH(refused("binary(scaled=true)"), Contains("neighbours"));
  CHECK_THROWS_WITH(refused("binary_residual(2, means=[0.25, 0.5])"),
                    Contains("smaller numbers for larger ones"));
}

TEST_CASE("data cannot have a format that rounds by other elements, or leaves its grid") {
  using Catch::Contains;
  const auto refused = [](const std::string& text) { return grid_of(formats::parse_format(text)); };
  CHECK_THROWS_WITH(refused("ternary()"), Contains("threshold = 0.5"));
  CHECK_NOTHROW(refused("ternary(mean=0.5)"));
  CHECK_THROWS_WITH(refused("binary_residual(2, means=[0.25, 0.5])"), Contains("[0.5, 0.25]"));
  CHECK_THROWS_WITH(refused("scale_integer(8)"), Contains("'integer'"));
  CHECK_THROWS_WITH(refused("minifloat_ieee(6, 3, profile=reference)"), Contains("'exact'"));
}

}  // namespace mase::integer
