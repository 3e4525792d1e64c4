// SPDX-License-Identifier: Apache-2.0
// Ternary formats: thresholds, scales, codes and refusals.
#include "formats/low_bit/ternary.hpp"

#include <catch2/catch.hpp>

#include "formats/scaled_support.hpp"

using namespace mase;
using namespace mase::formats;

namespace {

// Section 2 for one slice, in double and with the test's own sums.
Values slow_ternary(const Values& slice, std::optional<double> given, bool scaled) {
  const auto mean = [&](double above) {
    const auto [sum, count] = slow_sum(slice, above);
    return count == 0 ? 0.0 : sum / static_cast<double>(count);
  };
  const double threshold = given ? *given : 0.75 * mean(-1);
  const float alpha = scaled ? static_cast<float>(mean(threshold)) : 1.0F;
  Values out;
  for (const float x : slice) {
    float value = 0;
    if (std::isnan(x)) value = x;
    if (x > threshold) value = alpha;
    if (x < -threshold) value = alpha == 0 ? 0 : -alpha;
    out.push_back(value);
  }
  return out;
}

}  // namespace

TEST_CASE("ternary values lie above the threshold, not at it") {
  const Values in{0.25F, -0.25F, 0.26F, -0.26F, 0, -0.0F, INFINITY, -INFINITY};
  CHECK(differences(quantized("ternary(threshold=0.25)", in), {0, 0, 1, -1, 0, 0, 1, -1}) == 0);
  CHECK(differences(quantized("ternary(threshold=0)", in), {1, -1, 1, -1, 0, 0, 1, -1}) == 0);
}

TEST_CASE("the threshold comes from the first statistic that is given") {
  // 0.75 * 0.4 = 0.3; 0.05 * 4 = 0.2; 0.75 * 0.2 = 0.15; the mean magnitude here is 0.225.
  const Values in{0.1F, 0.18F, 0.24F, 0.38F};
  CHECK(quantized("ternary(mean=0.4)", in) == Values{0, 0, 0, 1});
  CHECK(quantized("ternary(max=4)", in) == Values{0, 0, 1, 1});
  CHECK(quantized("ternary(median=0.2)", in) == Values{0, 1, 1, 1});
  CHECK(quantized("ternary", in) == Values{0, 1, 1, 1});  // 0.16875
  CHECK(quantized("ternary(mean=0.4, max=4)", in) == Values{0, 0, 0, 1});
  CHECK(quantized("ternary(threshold=0.05, mean=0.4)", in) == Values{1, 1, 1, 1});
}

TEST_CASE("the scale is the mean magnitude above the threshold of each index of dimension 0") {
  // Row means 2 and 1, thresholds 1.5 and 0.75; above them: 3, 4 and 1, 2.
  const Values in{0.5F, -3, 4, 0.5F, 1, 0.5F, -0.5F, -2};
  CHECK(differences(quantized("ternary(scaling_factor=true)", in, {2, 4}),
                    {0, -3.5F, 3.5F, 0, 1.5F, 0, 0, -1.5F}) == 0);
  // Nothing above: all 0.
  CHECK(differences(quantized("ternary(scaling_factor=true, threshold=9)", in), Values(8)) == 0);
}

TEST_CASE("a threshold between two float32 numbers is compared as a double") {
  const float x = 0.1F;  // 0.100000001490116 in double
  CHECK(quantized("ternary(threshold=0.1)", {x, std::nextafter(x, 0.0F)}) == Values{1, 0});
  CHECK(quantized("ternary(threshold=0.1000000014901162)", {x, -x}) == Values{0, 0});
}

TEST_CASE("NaN stays NaN and, like infinities, does not affect threshold and scale") {
  // Mean of 1, 1, 4 is 2, threshold 1.5, scale 4.
  const Values in{NAN, 1, -1, 4, INFINITY, -INFINITY};
  CHECK(differences(quantized("ternary(scaling_factor=true)", in), {NAN, 0, 0, 4, 4, -4}) == 0);
  CHECK(differences(quantized("ternary(scaling_factor=true)", {-INFINITY, 0}), {0, 0}) == 0);
  // The reference system's means take all elements: an infinite threshold leaves nothing above, 0 /
  // 0 is NaN.
  CHECK(quantized("ternary(profile=mase)", {1, INFINITY}, {1, 1, 1, 2}) == Values{0, 0});
  CHECK(differences(
            quantized("ternary(scaling_factor=true, profile=mase)", {1, INFINITY}, {1, 1, 1, 2}),
            {NAN, NAN}) == 0);
}

TEST_CASE("ternary values equal an independent definition, for any shape") {
  Random random(41);
  for (int trial = 0; trial < 300; ++trial) {
    const std::size_t rows = 1 + random.below(4), size = 1 + random.below(300);
    Values in = random_numbers(random, rows * size);
    if (random.below(4) == 0) in[random.below(in.size())] = NAN;
    const bool scaled = random.below(2) == 0, given = random.below(2) == 0;
    const double threshold = random.uniform(0, 2);
    Values expected;
    for (std::size_t r = 0; r < rows; ++r) {
      const auto first = in.begin() + static_cast<std::ptrdiff_t>(r * size);
      const Values slice(first, first + static_cast<std::ptrdiff_t>(size));
      const Values part =
          slow_ternary(slice, given ? std::optional<double>(threshold) : std::nullopt, scaled);
      expected.insert(expected.end(), part.begin(), part.end());
    }
    Ternary format;
    format.scaling_factor = scaled;
    if (given) format.threshold = threshold;
    Values out(in.size());
    format.quantize(in, out, {static_cast<std::int64_t>(rows), static_cast<std::int64_t>(size)});
    CHECK(differences(out, expected) == 0);
  }
}

TEST_CASE("ternary codes decode to their values, for any shape") {
  Random random(42);
  for (int trial = 0; trial < 400; ++trial) {
    const Shape shape = random_shape(random);
    const Values in = random_numbers(random, static_cast<std::size_t>(numel(shape)));
    for (const char* text : {"ternary", "ternary(scaling_factor=true)", "ternary(threshold=0.1)",
                             "ternary(max=3, scaling_factor=true)"})
      check_round_trip(text, in, shape);
  }
}

TEST_CASE("ternary codes are two's complement") {
  const Format format = parse_format("ternary(threshold=0.5)");
  const Encoded encoded = format.encode(Values{1, 0, -1, 0}, {4});
  CHECK(encoded.codes.unpack() == std::vector<std::uint32_t>{1, 0, 3, 0});
  CHECK(encoded.scales.empty());
  CHECK(format.bits_per_element({4, 8}) == 2.0);
  CHECK(parse_format("ternary(scaling_factor=true)").bits_per_element({4, 8}) == 6.0);
}

TEST_CASE("ternary values saturate beyond 1, unless scaled") {
  std::vector<std::uint8_t> mask(4);
  parse_format("ternary").saturates(Values{-2, 1, 1.5F, NAN}, mask, {4});
  CHECK(mask == std::vector<std::uint8_t>{1, 0, 1, 0});
  parse_format("ternary(scaling_factor=true)").saturates(Values{-2, 1, 1.5F, NAN}, mask, {4});
  CHECK(mask == std::vector<std::uint8_t>{0, 0, 0, 0});
}

TEST_CASE("ternary parameters, shapes and damaged tensors are refused") {
  CHECK_THROWS_WITH(parse_format("ternary(threshold=-1)"), Catch::Contains("threshold"));
  for (const Shape& shape : {Shape{2}, Shape{1, 2}, Shape{1, 1, 1, 1, 2}})
    CHECK_THROWS_WITH(quantized("ternary(profile=mase)", {1, 2}, shape),
                      Catch::Contains("4 dimensions"));
  const Format format = parse_format("ternary(scaling_factor=true)");
  Values out(2);
  const PackedCodes good = pack_codes(std::vector<std::uint32_t>{1, 3}, 2);
  const PackedCodes bad = pack_codes(std::vector<std::uint32_t>{1, 2}, 2);
  CHECK_THROWS_WITH(format.decode({bad, {}, {1}}, out, {2}), Catch::Contains("code 2"));
  for (std::size_t at = 0; at < 9; ++at) {
    std::vector<std::uint32_t> codes(9, 3);
    codes[at] = 2;
    Values nine(9);
    CHECK_THROWS_WITH(format.decode({pack_codes(codes, 2), {}, {1}}, nine, {9}),
                      Catch::Contains("code 2"));
  }
  CHECK_THROWS_WITH(format.decode({good, {}, {}}, out, {2}), Catch::Contains("0 scales"));
  CHECK_THROWS_WITH(format.decode({good, {}, {1}}, out, {2, 1}), Catch::Contains("1 scales"));
  CHECK_THROWS_WITH(format.encode(Values{1, NAN}, {2}), Catch::Contains("element 1 is NaN"));
}
