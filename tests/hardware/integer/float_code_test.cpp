// SPDX-License-Identifier: Apache-2.0
// Short codes of element formats against their numbers.
#include "hardware/integer/float_code.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "formats/format.hpp"
#include "hardware/integer/levels.hpp"

using namespace mase::integer;

namespace {

using Numbers = std::vector<std::int64_t>;

/// Numbers by the text of IEEE 754: mantissas with a hidden bit but for the least exponent.
Numbers floating_point(int exponents, int mantissa) {
  Numbers numbers;
  for (std::int64_t e = 0; e < exponents; ++e)
    for (std::int64_t f = 0; f < std::int64_t{1} << mantissa; ++f)
      numbers.push_back(e == 0 ? f : ((std::int64_t{1} << mantissa) + f) << (e - 1));
  return numbers;
}

Numbers with_negative(const Numbers& numbers) {
  Numbers all;
  for (const std::int64_t number : numbers) {
    all.push_back(number);
    all.push_back(-number);
  }
  return all;
}

/// Every number has a code, the codes ascend with the numbers, and bits of the sign are inverted.
void check_codes(const FloatCode& code, Numbers numbers) {
  std::ranges::sort(numbers);
  numbers.erase(std::ranges::unique(numbers).begin(), numbers.end());
  std::int64_t before = code.type().low() - 1;
  for (const std::int64_t number : numbers) {
    const auto found = code.code(number);
    REQUIRE(found);
    CHECK(*found > before);
    CHECK(*found <= code.type().high());
    CHECK(code.number(*found) == number);
    if (number != 0 && code.is_signed) CHECK(code.code(-number) == ~*found);
    before = *found;
  }
}

FloatCode shortest(const Numbers& numbers) {
  const auto found = FloatCode::shortest(numbers, most_level_bits);
  REQUIRE(found);
  return *found;
}

}  // namespace

TEST_CASE("Floating-point numbers have codes as short as their format", "[float_code]") {
  for (int mantissa = 0; mantissa < 4; ++mantissa)
    for (const int exponent_bits : {1, 2, 3, 4}) {
      const Numbers magnitudes = floating_point(1 << exponent_bits, mantissa);
      const FloatCode positive = shortest(magnitudes);
      CHECK(positive.width == exponent_bits + mantissa);
      CHECK_FALSE(positive.is_signed);
      check_codes(positive, magnitudes);
      const FloatCode code = shortest(with_negative(magnitudes));
      CHECK(code.width == 1 + exponent_bits + mantissa);
      check_codes(code, with_negative(magnitudes));
    }
}

TEST_CASE("Binary, ternary and powers of two have short codes", "[float_code]") {
  CHECK(shortest({-1, 1}) == FloatCode{1, 0, true, false, 2});
  CHECK(shortest({-1, 0, 1}).width == 2);
  CHECK(shortest({-4, -2, -1, 1, 2, 4}) == FloatCode{3, 0, true, false, 4});
  const FloatCode code = shortest({0, 1, 2, 4, 8, 16, 32, 64});
  CHECK(code == FloatCode{3, 0, false, true, 7});
  CHECK(code.most_shift() == 6);
  CHECK(code.significand_bits() == 1);
  check_codes(code, {0, 1, 2, 4, 8, 16, 32, 64});
}

TEST_CASE("Whole numbers have codes of sign and magnitude", "[float_code]") {
  Numbers numbers;
  for (std::int64_t number = -127; number <= 127; ++number) numbers.push_back(number);
  const FloatCode code = shortest(numbers);
  CHECK(code.width == 8);
  CHECK(code.most_shift() == 0);
  check_codes(code, numbers);
}

TEST_CASE("Multiples of a power of two have codes as short as without it", "[float_code]") {
  const Numbers numbers{-12 << 9, -8 << 9, 0, 1 << 9, 3 << 9, 6 << 9};
  const FloatCode code = shortest(numbers);
  CHECK(code == FloatCode{4, 1, true, true, 5, 9});
  check_codes(code, numbers);
  CHECK_FALSE(code.code(1 << 8));
}

TEST_CASE("Numbers that would need more bits have no short codes", "[float_code]") {
  CHECK_FALSE(FloatCode::shortest(Numbers{0, 1, 1001}, 8));
  CHECK_FALSE(FloatCode::shortest(Numbers{}, 8));
  const FloatCode code{8, 3, true, true, 19};
  CHECK_FALSE(code.code(17));
  CHECK_FALSE(code.code(std::int64_t{1} << 30));
  CHECK_FALSE((FloatCode{4, 0, false, false, 16}.code(0)));
}

TEST_CASE("The numbers of element formats have codes as short as theirs", "[float_code]") {
  const auto width = [](const char* text) {
    const auto levels = levels_of(mase::formats::parse_format(text));
    const FloatCode code = shortest(levels->codes);
    check_codes(code, levels->codes);
    return code.width;
  };
  CHECK(width("fp8_e4m3()") == 8);
  CHECK(width("fp8_e5m2()") == 8);
  CHECK(width("fp6_e3m2()") == 6);
  CHECK(width("fp6_e2m3()") == 6);
  CHECK(width("fp4_e2m1()") == 4);
  CHECK(width("ternary(threshold=0.5)") == 2);
  CHECK(width("binary(scaled=false)") == 1);
  CHECK(width("log(5)") <= 5);
  CHECK(width("minifloat_ieee(6, 3)") <= 6);
  CHECK(width("minifloat_denorm(6, 3)") <= 6);
}
