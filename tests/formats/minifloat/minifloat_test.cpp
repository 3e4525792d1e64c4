// SPDX-License-Identifier: Apache-2.0
// Minifloats: values and codes by hand, standards by name, overflow, profile reference, refusals.
#include <catch2/catch.hpp>
#include <numeric>

#include "formats/element_support.hpp"

using namespace mase;
using namespace mase::formats;

namespace {

std::vector<std::uint32_t> codes_of(const std::string& text, const std::vector<float>& in) {
  return parse_format(text).encode(in, {static_cast<std::int64_t>(in.size())}).codes.unpack();
}

std::vector<float> values_of(const std::string& text, const std::vector<std::uint32_t>& codes) {
  const Format format = parse_format(text);
  std::vector<float> out(codes.size());
  format.decode({pack_codes(codes, static_cast<int>(format.bits_per_element({}))), {}, {}}, out,
                {static_cast<std::int64_t>(out.size())});
  return out;
}

}  // namespace

TEST_CASE("e2m1 has the values and ties of its eight magnitudes") {
  // 0, 0.5, 1, 1.5, 2, 3, 4, 6; codes 0 to 7.
  check_same(values_of("fp4_e2m1", {0, 1, 2, 3, 4, 5, 6, 7, 8, 15}),
             {0, 0.5F, 1, 1.5F, 2, 3, 4, 6, -0.0F, -6});
  const std::vector<float> in{0.25F, 0.75F, 1.25F, 1.75F, 2.5F, 3.5F, 5, 7, -0.2F, -0.3F, -2.6F};
  check_same(quantized("fp4_e2m1", in), {0, 1, 1, 2, 2, 4, 4, 6, -0.0F, -0.5F, -3});
  check_same(quantized("fp4_e2m1(rounding=floor)", in),
             {0, 0.5F, 1, 1.5F, 2, 3, 4, 6, -0.5F, -0.5F, -3});
  check_same(quantized("fp4_e2m1(rounding=nearest_away)", in),
             {0.5F, 1, 1.5F, 2, 3, 4, 6, 6, -0.0F, -0.5F, -3});
}

TEST_CASE("formats named by standards have the standards' largest values and widths") {
  const auto check = [](const std::string& text, double largest, int bits) {
    INFO(text);
    const Format format = parse_format(text);
    CHECK(format.range().high == largest);
    CHECK(format.range().low == -largest);
    CHECK(format.bits_per_element({7}) == bits);
  };
  check("fp8_e5m2", 57344, 8);
  check("fp8_e4m3", 448, 8);
  check("fp6_e3m2", 28, 6);
  check("fp6_e2m3", 7.5, 6);
  check("fp4_e2m1", 6, 4);
  check("minifloat_ieee(element=e5m2)", 57344, 8);
  check("minifloat_ieee(element=e4m3fn)", 448, 8);
  check("minifloat_ieee(element=e4m3)", 240, 8);
  check("minifloat_ieee(element=e3m4)", 15.5, 8);
  check("minifloat_ieee(element=float16)", 65504, 16);
  check("minifloat_ieee(element=bfloat16)", 0x1.fep127, 16);
  check("minifloat_ieee(8, 4, 7)", 480, 8);
  check("minifloat_denorm(8, 4, 7)", 224, 8);  // 2^8 * (1 - 1/8)
}

TEST_CASE("values that overflow saturate, or become infinity or NaN") {
  const std::vector<float> in{449, 464, 465, -1e9F, INFINITY, -INFINITY};
  check_same(quantized("fp8_e4m3", in), {448, 448, 448, -448, 448, -448});
  // 464 is half way to 480, the code of NaN, and ties to 448.
  check_same(quantized("fp8_e4m3(saturate=false)", in), {448, 448, NAN, NAN, NAN, NAN});
  check_same(quantized("fp8_e5m2(saturate=false)", {61439, 61440, -61440, INFINITY}),
             {57344, INFINITY, -INFINITY, INFINITY});
  check_same(quantized("fp8_e5m2", {61440, INFINITY}), {57344, 57344});
  check_same(quantized("fp6_e3m2(saturate=false)", {1e9F, -INFINITY}), {28, -28});
}

TEST_CASE("specials have the standards' codes") {
  CHECK(codes_of("fp8_e4m3", {NAN, 448, -448}) == std::vector<std::uint32_t>{0x7f, 0x7e, 0xfe});
  CHECK(codes_of("fp8_e5m2(saturate=false)", {NAN, INFINITY, -INFINITY, 57344}) ==
        std::vector<std::uint32_t>{0x7e, 0x7c, 0xfc, 0x7b});
  CHECK(codes_of("minifloat_ieee(element=float16)", {NAN, 1, -2}) ==
        std::vector<std::uint32_t>{0x7e00, 0x3c00, 0xc000});
  // bfloat16 is the upper half of float32.
  CHECK(codes_of("minifloat_ieee(element=bfloat16)", {NAN, 1, 0x1p-133F, 3e38F}) ==
        std::vector<std::uint32_t>{0x7fc0, 0x3f80, 0x0001, 0x7f62});
}

TEST_CASE("every code of a format with a hidden bit survives decoding and encoding") {
  for (const char* text : {"minifloat_ieee(8, 4, 7)", "minifloat_ieee(6, 1, 0)", "fp6_e2m3",
                           "minifloat_ieee(8, 7, 63)", "minifloat_ieee(16, 5, 15)",
                           "minifloat_ieee(8, 4, 7, profile=mase)"}) {
    INFO(text);
    const int bits = static_cast<int>(parse_format(text).bits_per_element({}));
    std::vector<std::uint32_t> codes(std::size_t{1} << bits);
    std::iota(codes.begin(), codes.end(), 0U);
    const std::vector<float> values = values_of(text, codes);
    std::vector<std::uint32_t> found = codes_of(text, values);
    // The reference system gives -0 the code of +0.
    if (std::string(text).find("mase") != std::string::npos)
      found[codes.size() / 2] = codes.size() / 2;
    CHECK(found == codes);
  }
}

TEST_CASE("without a hidden bit the code is that of the smallest exponent") {
  // 1 = 2^1 * 4/8: exponent code 8, fraction 4. 2^-7 * 1/8 has exponent code 0.
  CHECK(codes_of("minifloat_denorm(8, 4, 7)", {1, -1, 0x1p-10F, 0x1p-7F, -0.0F}) ==
        std::vector<std::uint32_t>{0x44, 0xc4, 0x01, 0x0c, 0x80});
  check_same(values_of("minifloat_denorm(8, 4, 7)", {0x3f, 0x42, 0x7f}), {0.875F, 0.5F, 224});
  CHECK(codes_of("minifloat_denorm(8, 4, 7)", {0.5F}) == std::vector<std::uint32_t>{0x3c});
}

TEST_CASE("minifloats of profile mase keep the reference system's mistakes") {
  // No carry into the next power of two, tiny values pass, infinity becomes NaN, -0 becomes +0.
  check_same(quantized("minifloat_ieee(8, 4, 7, profile=mase)",
                       {1.96875F, 1.25F, 1e-8F, -1e-9F, INFINITY, -0.0F, 1e9F}),
             {1.875F, 1.25F, 1e-8F, -1e-9F, NAN, 0, 480});
  // Powers of two lose a step.
  check_same(quantized("minifloat_denorm(8, 4, 7, profile=mase)", {1, 0.75F}), {0.875F, 0.75F});
}

TEST_CASE("minifloats of profile mase have the codes of their values") {
  Random random(41);
  for (int trial = 0; trial < 40; ++trial) {
    MinifloatSpec spec = random_minifloat(random, Rounding::nearest_even);
    spec.specials = Specials::none;
    spec.saturate = true;
    spec.profile = Profile::reference;
    spec.exponent_bias = (1 << (spec.exponent_width - 1)) - 1;
    INFO(text_of(spec));
    std::vector<float> in;
    for (int i = 0; i < 1000; ++i) in.push_back(static_cast<float>(random.normal()));
    check_same(values_of(text_of(spec), codes_of(text_of(spec), in)), quantized(text_of(spec), in));
  }
}

TEST_CASE("an element name is resolved into the parameters") {
  CHECK(parse_format("minifloat_ieee(element=e5m2)").text() ==
        "minifloat_ieee(8, 5, 15, inf_nan=ieee)");
  CHECK(parse_format("minifloat_ieee(element=e5m2, width=8, inf_nan=ieee)") ==
        parse_format("minifloat_ieee(8, 5, 15, inf_nan=ieee)"));
  CHECK(parse_format("minifloat_ieee(8, 4)").text() == "minifloat_ieee(8, 4, 7)");
  CHECK(parse_format("fp8_e4m3(saturate=false, rounding=floor)").text() ==
        "fp8_e4m3(saturate=false, rounding=floor)");
}

TEST_CASE("minifloats that cannot be are refused at their place") {
  const auto refuses = [](const char* text, const char* message) {
    INFO(text);
    CHECK_THROWS_WITH(parse_format(text), Catch::Contains(message));
  };
  refuses("minifloat_ieee(4, 4)", "1:19: error: an exponent_width of 4 and the sign exceed");
  refuses("minifloat_denorm(5, 4)", "use a width of at least 6");
  refuses("minifloat_ieee(17, 4)", "'width'");
  refuses("minifloat_ieee(8, 9)", "'exponent_width'");
  refuses("minifloat_ieee(8, 4, 1000)", "'exponent_bias'");
  refuses("minifloat_ieee(8, 1, inf_nan=ieee)", "use inf_nan 'none'");
  refuses("minifloat_ieee(5, 4, inf_nan=fn)", "needs a fraction bit");
  refuses("minifloat_ieee(element=e5m2, width=6)", "element 'e5m2' has width 8");
  refuses("minifloat_ieee(element=e5m2, inf_nan=fn)", "element 'e5m2' has inf_nan ieee");
  refuses("minifloat_ieee(element=e9m9)", "e4m3fn");
  refuses("minifloat_ieee(element=e5m2, profile=mase)", "profile 'reference' has numbers only");
  refuses("minifloat_ieee(8, 4, saturate=false, profile=mase)", "1:31: error: profile 'reference'");
  refuses("minifloat_ieee(8, 4, rounding=floor, profile=mase)", "has no rounding 'floor'");
  refuses("fp8_e4m3(width=6)", "width");
}
