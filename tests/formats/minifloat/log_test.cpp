// SPDX-License-Identifier: Apache-2.0
// The format log: values and codes by hand, profile reference, refusals.
#include <catch2/catch.hpp>
#include <numeric>

#include "formats/element_support.hpp"

using namespace mase;
using namespace mase::formats;

TEST_CASE("log rounds in the logarithm, and small values to zero") {
  // Exponent codes 1 to 7 of log(4, 3): 2^-2 to 2^4; 1.414213 and 1.414214 enclose sqrt(2).
  const std::vector<float> in{1.414213F, 1.414214F, -3, 0.125F, 0.126F, 0, -0.0F, -0.01F, 100};
  check_same(quantized("log(4, 3)", in), {1, 2, -4, 0, 0.25F, 0, 0, 0, 16});
  check_same(quantized("log(4, 3, rounding=nearest_away)", in), {1, 2, -4, 0, 0.25F, 0, 0, 0, 16});
  check_same(quantized("log(4, 3, rounding=floor)", in), {1, 1, -4, 0, 0, 0, 0, -0.25F, 16});
}

TEST_CASE("log without a zero has one more power") {
  check_same(quantized("log(4, 3, zero=false)", {0, -0.0F, 1e-30F, -1e-30F, 0.2F, -INFINITY}),
             {0.125F, 0.125F, 0.125F, -0.125F, 0.25F, -16});
  check_same(quantized("log(4, 3, zero=false, rounding=floor)", {0, -0.0F, -1e-30F, 0.2F, -0.2F}),
             {0.125F, 0.125F, -0.125F, 0.125F, -0.25F});
}

TEST_CASE("every code of log survives decoding and encoding") {
  for (const char* text : {"log(8)", "log(4, 3)", "log(8, zero=false)", "log(2)", "log(6, 20)"}) {
    INFO(text);
    const Format format = parse_format(text);
    const int bits = static_cast<int>(format.bits_per_element({}));
    std::vector<std::uint32_t> codes(std::size_t{1} << bits);
    std::iota(codes.begin(), codes.end(), 0U);
    std::vector<float> values(codes.size());
    const Shape shape{static_cast<std::int64_t>(codes.size())};
    format.decode({pack_codes(codes, bits), {}, {}}, values, shape);
    std::vector<std::uint32_t> expected = codes;
    // The sign of 0 is stored as 0.
    if (values[0] == 0.0F) expected[codes.size() / 2] = 0;
    CHECK(format.encode(values, shape).codes.unpack() == expected);
  }
}

TEST_CASE("log of profile mase has no zero and rounds RN32(log2)") {
  // zeta lifts zeros and small negative values to +2^-bias.
  check_same(quantized("log(8, 63, profile=mase)", {0, -0.0F, 3, -3, INFINITY, -INFINITY}),
             {0x1p-63F, 0x1p-63F, 4, -4, 2 * 0x1p63F, -2 * 0x1p63F});
  const float zeta = static_cast<float>(0.1 * 0x1p-3);
  check_same(quantized("log(5, 3, profile=mase)", {-zeta, -zeta / 2}), {0, 0.125F});
  CHECK(parse_format("log(8, profile=mase)").text() == "log(8, 63, zero=false, profile=reference)");
}

TEST_CASE("wide logs have powers beyond float32") {
  const Format format = parse_format("log(32)");
  const std::vector<float> in{1.0F, -0x1p-149F, 0.0F, INFINITY};
  const Encoded encoded = format.encode(in, {4});
  const std::uint32_t bias = (1U << 30) - 1;
  CHECK(encoded.codes.unpack() ==
        std::vector<std::uint32_t>{bias, 0x80000000U | (bias - 149), 0, 0x7fffffff});
  std::vector<float> out(4);
  format.decode(encoded, out, {4});
  check_same(out, in);
}

TEST_CASE("logs that cannot be are refused at their place") {
  const auto refuses = [](const char* text, const char* message) {
    INFO(text);
    CHECK_THROWS_WITH(parse_format(text), Catch::Contains(message));
  };
  refuses("log(1)", "'width'");
  refuses("log(40)", "'width'");
  refuses("log(8, -2000)", "'exponent_bias'");
  refuses("log(8, zero=true, profile=mase)", "1:13: error: profile 'reference' has no zero");
  refuses("log(8, rounding=floor, profile=mase)", "has no rounding 'floor'");
}

TEST_CASE("only large magnitudes saturate a log") {
  const Format format = parse_format("log(4, 3)");
  const std::vector<float> in{0, 1e-30F, 16, 17, -17, INFINITY, NAN};
  std::vector<std::uint8_t> mask(in.size());
  format.saturates(in, mask, {7});
  CHECK(mask == std::vector<std::uint8_t>{0, 0, 0, 1, 1, 1, 0});
  CHECK(format.range().high == 16);
}
