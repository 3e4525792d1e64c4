// SPDX-License-Identifier: Apache-2.0
// Integers with a scale per row: steps, rounding, codes and refusals.
#include "formats/fixed/scale_integer.hpp"

#include <catch2/catch.hpp>
#include <limits>

#include "formats/fixed/row_kernel.hpp"
#include "formats/scaled_support.hpp"

using namespace mase;
using namespace mase::formats;

namespace {

// Section 2 for one element of a row, with the quotient and product in long double.
float slow_value(float x, float peak, int width, bool is_signed, const std::string& rounding) {
  const double high = std::ldexp(1.0, is_signed ? width - 1 : width) - 1;
  float step = peak == 0 ? 1.0F : static_cast<float>(peak / high);
  if (step == 0) step = std::numeric_limits<float>::denorm_min();
  if (std::isnan(x)) return x;
  long double code = static_cast<long double>(x) / static_cast<long double>(step);
  if (rounding == "nearest_even") code = std::nearbyint(code);
  if (rounding == "floor") code = std::floor(code);
  if (rounding == "nearest_away") code = std::round(code);
  const long double low = is_signed ? -high : 0;
  code = code < low ? low : code > high ? high : code;
  return code == 0 ? 0.0F : static_cast<float>(code * static_cast<long double>(step));
}

float slow_peak(const Values& row) {
  float peak = 0;
  for (const float value : row)
    if (std::isfinite(value)) peak = std::max(peak, std::fabs(value));
  return peak;
}

/// A row of this peak: zeros, infinities, NaN, and codes and ties with their neighbours.
Values row_of_ties(Random& random, const ScaleIntegerSpec& spec, float peak) {
  Values row{peak, -peak, 0.0F, -0.0F, INFINITY, -INFINITY, NAN};
  const double step = row_scale(spec, peak);
  for (int i = 0; i < 60; ++i) {
    const double code = std::floor(random.uniform(-1, 1) * spec.high());
    const auto x = static_cast<float>((code + (i % 3 == 0 ? 0.0 : 0.5)) * step);
    for (const float beside : {x, std::nextafter(x, -INFINITY), std::nextafter(x, INFINITY)})
      row.push_back(std::clamp(beside, -peak, peak));
  }
  return row;
}

}  // namespace

TEST_CASE("rows of ties equal the definition on every instruction set, for any peak") {
  Random random(74);
  for (int trial = 0; trial < 3000; ++trial) {
    const bool is_signed = random.below(2) == 0;
    const int narrowest = is_signed ? 2 : 1;
    const auto widths = static_cast<std::uint64_t>(kernels::widest_row_kernel - narrowest + 1);
    const Rounding roundings[] = {Rounding::nearest_even, Rounding::floor, Rounding::nearest_away};
    const ScaleIntegerSpec spec{narrowest + static_cast<int>(random.below(widths)), is_signed,
                                roundings[trial % 3], Profile::exact};
    const float peak = std::ldexp(static_cast<float>(random.uniform(0.5, 1)),
                                  static_cast<int>(random.below(277)) - 148);
    const Values in = row_of_ties(random, spec, peak);
    const float step = row_scale(spec, peak);
    Values expected, out(in.size());
    for (const float x : in) expected.push_back(quantize_scale_integer_scalar(spec, x, step, 0));
    for (const simd::Isa isa : simd::available_isas()) {
      kernels::row_kernels(isa)[spec.rounding].quantize(
          {step, static_cast<float>(spec.low()), static_cast<float>(spec.high())}, in.data(),
          out.data(), in.size(), false);
      if (differences(out, expected) != 0)
        FAIL("width " << spec.width << ", peak " << peak << " on " << simd::isa_name(isa));
    }
  }
  SUCCEED();
}

TEST_CASE("the largest magnitude of a row becomes the largest code") {
  // Steps 1 / 7 of 7 and 3.5: 1 and 0.5. 0.25 is a tie between 0 and 0.5.
  const Values in{7, -7, 2.6F, 0.5F, 3.5F, 0.25F, -0.75F, -0.0F};
  CHECK(differences(quantized("scale_integer(4)", in, {2, 4}), {7, -7, 3, 0, 3.5F, 0, -1, 0}) == 0);
  CHECK(differences(quantized("scale_integer(4, rounding=nearest_away)", in, {2, 4}),
                    {7, -7, 3, 1, 3.5F, 0.5F, -1, 0}) == 0);
  CHECK(differences(quantized("scale_integer(4, rounding=floor)", in, {2, 4}),
                    {7, -7, 2, 0, 3.5F, 0, -1, 0}) == 0);
  CHECK(differences(quantized("scale_integer(3, is_signed=false)", in, {2, 4}),
                    {7, 0, 3, 0, 3.5F, 0, 0, 0}) == 0);
}

TEST_CASE("rows of profile reference equal the definition on every instruction set") {
  Random random(73);
  for (int trial = 0; trial < 500; ++trial) {
    const ScaleIntegerSpec spec{1 + static_cast<int>(random.below(32)), random.below(2) == 0,
                                Rounding::nearest_even, Profile::reference};
    Values in = random_numbers(random, 1 + random.below(70)), expected;
    if (random.below(8) == 0) in[random.below(in.size())] = NAN;
    if (random.below(8) == 0) in.assign(in.size(), -0.0F);
    const float peak = row_peak(in, spec.profile), scale = row_scale(spec, peak);
    for (const float x : in) expected.push_back(quantize_scale_integer_scalar(spec, x, scale, 0));
    const kernels::RowGrid grid{scale, static_cast<float>(spec.low()),
                                static_cast<float>(spec.high())};
    for (const simd::Isa isa : simd::available_isas()) {
      const auto& kernel = kernels::reference_row_kernel(isa);
      Values out(in.size());
      kernel.quantize(grid, in.data(), out.data(), in.size(), false);
      if (differences(out, expected) != 0 || !same_value(kernel.peak(in.data(), in.size()), peak))
        FAIL(spec.width << " bits on " << simd::isa_name(isa));
    }
  }
  SUCCEED();
}

TEST_CASE("rows of zeros have step 1, and tiny rows the smallest step") {
  const Format format = parse_format("scale_integer(8)");
  const Encoded encoded = format.encode(Values{0, -0.0F, 1e-45F, 0}, {2, 2});
  CHECK(encoded.scales == Values{1.0F, std::numeric_limits<float>::denorm_min()});
  CHECK(encoded.codes.unpack() == std::vector<std::uint32_t>{0, 0, 1, 0});
}

TEST_CASE("a step is small enough to keep the largest value finite") {
  constexpr float largest = std::numeric_limits<float>::max();
  for (int width = 2; width <= 28; ++width) {
    const ScaleIntegerSpec spec{width};
    const double high = std::ldexp(1.0, width - 1) - 1;
    CHECK(std::isfinite(static_cast<float>(high * double(row_scale(spec, largest)))));
    const float next = std::nextafter(spec.largest_step(), INFINITY);
    CHECK(std::isinf(static_cast<float>(high * double(next))));
    // Only peaks in reach of the end are touched.
    CHECK(row_scale(spec, 1e38F) == static_cast<float>(1e38F / high));
  }
}

TEST_CASE("infinities saturate and NaN stays NaN, beside a scale of the finite elements") {
  const Values in{7, INFINITY, -INFINITY, NAN};
  CHECK(differences(quantized("scale_integer(4)", in), {7, 7, -7, NAN}) == 0);
  CHECK(differences(quantized("scale_integer(4)", {INFINITY, NAN}), {7, NAN}) == 0);
  // Reference system: s = 8 / inf = 0, and 0 / 0.
  CHECK(differences(quantized("scale_integer(4, profile=mase)", {7, INFINITY}), {NAN, NAN}) == 0);
}

TEST_CASE("scaled integers equal an independent definition") {
  Random random(51);
  for (int trial = 0; trial < 600; ++trial) {
    const int width = 2 + static_cast<int>(random.below(26));
    const bool is_signed = random.below(2) == 0;
    const char* roundings[] = {"nearest_even", "floor", "nearest_away"};
    const std::string rounding = roundings[random.below(3)];
    const std::string text = "scale_integer(" + std::to_string(width) +
                             ", is_signed=" + (is_signed ? "true" : "false") +
                             ", rounding=" + rounding + ")";
    Values in = random_numbers(random, 1 + random.below(90));
    if (random.below(3) == 0)  // ties of the grid whose largest value is 2^k * high
      for (float& value : in)
        value = static_cast<float>(random.below(std::uint64_t{2} << std::min(width, 20))) / 2;
    if (random.below(3) == 0)
      for (float& value : in) value = std::ldexp(value, -140);
    const float peak = slow_peak(in);
    Values expected;
    for (const float x : in) expected.push_back(slow_value(x, peak, width, is_signed, rounding));
    INFO(text);
    CHECK(differences(quantized(text, in), expected) == 0);
  }
}

TEST_CASE("codes of scaled integers decode to their values, for any shape and width") {
  Random random(52);
  for (int trial = 0; trial < 500; ++trial) {
    const Shape shape = random_shape(random);
    const Values in = random_numbers(random, static_cast<std::size_t>(numel(shape)));
    const std::string width = std::to_string(2 + random.below(31));
    for (const char* rounding : {"nearest_even", "floor", "nearest_away", "stochastic"}) {
      check_round_trip("scale_integer(" + width + ", rounding=" + rounding + ")", in, shape);
      check_round_trip("scale_integer(" + width + ", is_signed=false, rounding=" + rounding + ")",
                       in, shape);
    }
  }
}

TEST_CASE("decoded values have the same codes again under the same scale") {
  Random random(53);
  for (int width = 2; width <= 24; ++width) {
    const ScaleIntegerSpec spec{width};
    for (int trial = 0; trial < 300; ++trial) {
      const float step = row_scale(spec, static_cast<float>(std::exp(random.uniform(-60, 60))));
      const double code =
          static_cast<double>(random.below(static_cast<std::uint64_t>(spec.high())));
      CHECK(scale_integer_code(spec, scale_integer_value(spec, code, step), step, 0) == code);
    }
  }
}

TEST_CASE("bits and saturation of scaled integers") {
  CHECK(parse_format("scale_integer(8)").bits_per_element({4, 16}) == 10.0);
  CHECK(parse_format("scale_integer(8)").bits_per_element({4, 0}) == 8.0);
  std::vector<std::uint8_t> mask(4);
  parse_format("scale_integer(8)").saturates(Values{1e9F, -INFINITY, NAN, -1}, mask, {4});
  CHECK(mask == std::vector<std::uint8_t>{0, 1, 0, 0});
  parse_format("scale_integer(8, is_signed=false)").saturates(Values{1, 2, NAN, -1}, mask, {4});
  CHECK(mask == std::vector<std::uint8_t>{0, 0, 0, 1});
}

TEST_CASE("parameters and damaged tensors of scaled integers are refused") {
  const auto refuses = [](const char* text, const char* message) {
    CHECK_THROWS_WITH(parse_format(text), Catch::Contains(message));
  };
  refuses("scale_integer(1)", "no positive value");
  refuses("scale_integer(0)", "width");
  refuses("scale_integer(33)", "width");
  refuses("scale_integer(8, rounding=floor, profile=mase)", "has no rounding");
  const Format format = parse_format("scale_integer(8)");
  const Encoded good = format.encode(Values{1, 2, 3, 4}, {2, 2});
  Values out(4);
  CHECK_THROWS_WITH(format.decode({good.codes, {}, {}}, out, {2, 2}), Catch::Contains("0 scales"));
  CHECK_THROWS_WITH(format.decode(good, out, {4}), Catch::Contains("2 scales"));
  CHECK_THROWS_WITH(format.decode({{}, {}, good.scales}, out, {2, 2}), Catch::Contains("codes"));
  CHECK_THROWS_WITH(format.encode(Values{1, 2, NAN, 4}, {2, 2}),
                    Catch::Contains("element 2 is NaN"));
  CHECK_THROWS_WITH(
      parse_format("scale_integer(8, profile=mase)").encode(Values{1, 2, INFINITY, 4}, {2, 2}),
      Catch::Contains("element 2 is NaN"));
}
