// SPDX-License-Identifier: Apache-2.0
// Block formats as two staircases against the formats themselves, on random blocks.
#include "hardware/integer/block_levels.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "base/error.hpp"
#include "base/random.hpp"
#include "hardware/integer/program/codes.hpp"

namespace mase::integer {
namespace {

/// A tensor of blocks of very different magnitudes, with zeros, ties and powers of two among them.
Floats random_blocks(Random& random, std::int64_t rows, std::int64_t columns) {
  Floats numbers;
  for (std::int64_t row = 0; row < rows; ++row) {
    const int exponent = static_cast<int>(random.below(16)) - 9;
    for (std::int64_t i = 0; i < columns; ++i) {
      const auto whole = static_cast<double>(static_cast<std::int64_t>(random.below(2049)) - 1024);
      const double kept = random.below(3) == 0 ? std::floor(whole / 64) * 64 : whole;
      numbers.push_back(random.below(8) == 0 ? 0.0F
                                             : static_cast<float>(std::ldexp(kept, exponent - 10)));
    }
  }
  return numbers;
}

double rounded(const BlockLevels& levels, double number, int scale) {
  const int exponent = levels.exponent(scale);
  const std::int64_t code = levels.mantissa(scale).elements.code_of(std::ldexp(number, -exponent));
  return std::ldexp(static_cast<double>(code), exponent - levels.frac());
}

int scale_of(const BlockLevels& levels, double peak) {
  int scale = levels.least;
  while (scale < levels.greatest && levels.turn(scale + 1).reached_by(peak)) ++scale;
  return scale;
}

}  // namespace

TEST_CASE("the staircases of a block format round as the format does") {
  Random random(71);
  const Shape shape{40, 48};
  for (const std::string text : {"mxint8(block_size=16)",
                                 "mxint4(block_size=16)",
                                 "mxint2(block_size=8)",
                                 "mxint(6, block_size=16, scale_bits=3)",
                                 "mxint8(block_size=16, scale_rule=ceil)",
                                 "mxint8(block_size=16, scale_rule=even)",
                                 "mxint4(block_size=16, scale_rule=rceil)",
                                 "mxint4(block_size=16, rounding=floor)",
                                 "mxint8(block_size=16, scale_bits=3, rounding=floor)",
                                 "mxint8(block_size=16, exponent_min=-5, exponent_max=-1)",
                                 "mxint4(block_size=16, exponent_max=-2, scale_rule=even)",
                                 "mxfp4(block_size=16, exponent_min=-4, exponent_max=0)",
                                 "mxfp6_e2m3(block_size=16, exponent_min=2, exponent_max=2)",
                                 "mxfp4(block_size=16)",
                                 "mxfp6_e2m3(block_size=32)",
                                 "mxfp6_e3m2(block_size=16)",
                                 "mxfp8_e4m3(block_size=16)",
                                 "mxfp8_e4m3(block_size=16, scale_rule=rceil)",
                                 "mxfp8_e5m2(block_size=16)",
                                 "mxfp4(block_size=16, scale_bits=3, scale_rule=ceil)",
                                 "mxint8(block_size=1, scale_bits=4)",
                                 "mxfp4(block_size=1, rounding=floor)",
                                 "block_fp(6, 4, block_size=[1], skip_first_dim=true)",
                                 "mxint_hardware(6, 4, [1, 1])",
                                 "mxint8(block_size=16, exponent_min=-1, exponent_max=-1)",
                                 "mxfp4(block_size=16, exponent_min=70, exponent_max=70)",
                                 "block_fp(8, 8)",
                                 "block_fp(6, 3)",
                                 "block_minifloat(8, 3)",
                                 "block_minifloat(6, 2)",
                                 "block_log(5)",
                                 "mxint_hardware(8, 4, [1, 16])",
                                 "nvfp4(tensor_scale=none)",
                                 "nvfp4(tensor_scale=0.125, block_size=8)",
                                 "nvfp4(tensor_scale=0.0007, block_size=8)",
                                 "nvfp4(tensor_scale=3, rounding=nearest_away)"}) {
    INFO(text);
    const formats::Format format = formats::parse_format(text);
    const auto levels = block_levels_of(format);
    const Floats numbers = random_blocks(random, shape[0], shape[1]);
    Floats wanted(numbers.size());
    format.quantize(numbers, wanted, shape);
    std::size_t wrong = 0;
    for (const auto& block : blocks_of(format, shape)) {
      double peak = 0;
      for (const std::int64_t i : block)
        peak = std::max(peak, std::abs(static_cast<double>(numbers[at(i)])));
      const int scale = scale_of(*levels, peak);
      for (const std::int64_t i : block)
        wrong += rounded(*levels, static_cast<double>(numbers[at(i)]), scale) !=
                 static_cast<double>(wanted[at(i)]);
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("elements rounded down are below 0 from the least number below 0 on") {
  // All exponents scale numbers down, and so the least float32 number to 0.
  for (const std::string text :
       {"mxint8(scale_bits=3, rounding=floor)", "mxint4(exponent_max=-2, rounding=floor)",
        "mxfp4(exponent_max=-9, rounding=floor)"}) {
    INFO(text);
    const auto levels = block_levels_of(formats::parse_format(text));
    REQUIRE(levels->greatest < 0);
    const Levels& elements = levels->mantissas[0].elements;
    CHECK(elements.code_of(0) == 0);
    CHECK(elements.code_of(-1e-300) < 0);
  }
}

TEST_CASE("a bounded range of exponents bounds those of the levels") {
  const auto range = [](const std::string& text) {
    const auto levels = block_levels_of(formats::parse_format(text));
    return std::pair{levels->least, levels->greatest};
  };
  // Elements of mxint8 are whole numbers of 2^-6, and those of e2m1 are 1/2 to 6 as they stand.
  CHECK(range("mxint8") == std::pair{-127 - 6, 127 - 6});
  CHECK(range("mxint8(exponent_min=-9, exponent_max=3)") == std::pair{-9 - 6, 3 - 6});
  CHECK(range("mxfp4(exponent_min=-9)") == std::pair{-9, 127 - 2});  // the greatest float32 number
}

TEST_CASE("scales with mantissas ascend by their numbers, and their thresholds are few bits long") {
  const auto levels = block_levels_of(formats::parse_format("nvfp4(tensor_scale=none)"));
  REQUIRE(levels->mantissas.size() == 8);
  // e4m3fn from 2^-6 to 448 = 1.75 * 2^8: formats.md, section 3.
  CHECK(levels->least == -6 * 8);
  CHECK(levels->greatest == 8 * 8 + 6);
  for (std::size_t i = 0; i < 8; ++i) {  // 6 times the scale, in sixteenths
    const auto scale = static_cast<std::int64_t>(8 + i);
    CHECK(levels->mantissas[i].elements.codes.back() << (4 - levels->frac()) == 12 * scale);
  }
  CHECK(levels->stays);
  CHECK(numbers_type(*levels) == FixedType{23, 4 + 6, true});
  // Quarters of the least scale are thresholds, of sixteenths of its mantissa the shortest.
  CHECK(deciding_type(*levels).width < 32);
}

TEST_CASE("block formats without exponents are refused with what would do") {
  const auto refused = [](const std::string& text) {
    try {
      block_levels_of(formats::parse_format(text));
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(refused("nvfp4()").find("follows from all elements") != std::string::npos);
}

}  // namespace mase::integer
