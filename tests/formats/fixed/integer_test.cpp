// SPDX-License-Identifier: Apache-2.0
// The integer formats' own laws: codes round trip, values on the grid, order and error bounds.
#include <catch2/catch.hpp>
#include <numeric>

#include "base/random.hpp"
#include "formats/fixed/integer_support.hpp"
#include "formats/format.hpp"

using namespace mase;
using namespace mase::formats;

namespace {

Encoded encoded(const Format& format, const std::vector<float>& in) {
  return format.encode(in, {static_cast<std::int64_t>(in.size())});
}

void check_bits(const std::vector<float>& a, const std::vector<float>& b) {
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < a.size(); ++i) wrong += bits_of(a[i]) != bits_of(b[i]);
  CHECK(wrong == 0);
}

struct Sample {
  std::string text;
  int width, frac_width;
  bool is_signed;
};

// A random format of the exact profile in text form.
Sample random_format(Random& random, const std::string& rounding) {
  Sample sample{"", 1 + static_cast<int>(random.below(32)),
                static_cast<int>(random.below(253)) - 126, random.below(2) == 0};
  sample.text = "integer(" + std::to_string(sample.width) + ", " +
                std::to_string(sample.frac_width) +
                ", is_signed=" + (sample.is_signed ? "true" : "false") + ", rounding=" + rounding +
                ", seed=" + std::to_string(random.below(1000)) + ")";
  return sample;
}

// Sorted values around the range of a format, and its edges, without NaN.
std::vector<float> ordered_values(Random& random, const Sample& sample) {
  const IntegerSpec spec{sample.width, sample.frac_width, sample.is_signed};
  std::vector<float> values;
  for (const float value : edge_values(spec))
    if (!std::isnan(value)) values.push_back(value);
  const double reach = 1.2 * (spec.high() + 1);
  for (int i = 0; i < 2000; ++i)
    values.push_back(
        static_cast<float>(std::ldexp(random.uniform(-reach, reach), -sample.frac_width)));
  std::sort(values.begin(), values.end());
  return values;
}

const std::vector<std::string> rounding_names{"nearest_even", "floor", "nearest_away",
                                              "stochastic"};
const std::vector<std::string> deterministic_roundings{"nearest_even", "floor", "nearest_away"};

}  // namespace

TEST_CASE("integer(8, 4) has the values written in the specification") {
  // Steps of 1/16 in [-8, 7.9375]; 0.03125 is half a step (a tie), 0.09375 one and a half.
  const std::vector<float> in{0.0F,   0.03125F, 0.09375F, -0.03125F, -0.09375F, 1.0F,
                              100.0F, -100.0F,  INFINITY, -INFINITY, -0.0F};
  const auto check = [&](const std::string& text, const std::vector<float>& expected) {
    INFO(text);
    check_bits(quantized(parse_format(text), in), expected);
  };
  check("integer(8, 4)",
        {0.0F, 0.0F, 0.125F, 0.0F, -0.125F, 1.0F, 7.9375F, -8.0F, 7.9375F, -8.0F, 0.0F});
  check("integer(8, 4, rounding=nearest_away)",
        {0.0F, 0.0625F, 0.125F, -0.0625F, -0.125F, 1.0F, 7.9375F, -8.0F, 7.9375F, -8.0F, 0.0F});
  check("integer_floor(8, 4)",
        {0.0F, 0.0F, 0.0625F, -0.0625F, -0.125F, 1.0F, 7.9375F, -8.0F, 7.9375F, -8.0F, 0.0F});
  check("integer(8, 4, is_signed=false)",
        {0.0F, 0.0F, 0.125F, 0.0F, 0.0F, 1.0F, 15.9375F, 0.0F, 15.9375F, 0.0F, 0.0F});
  check("integer(8, 4, profile=mase)",
        {0.0F, 0.0F, 0.125F, -0.0F, -0.125F, 1.0F, 7.9375F, -8.0F, 7.9375F, -8.0F, -0.0F});
}

TEST_CASE("a negative value whose product underflows still floors to minus one step") {
  CHECK(quantized(parse_format("integer_floor(8, -126)"), {-0x1p-149F})[0] == -0x1p126F);
  CHECK(quantized(parse_format("integer_floor(8, -1)"), {-0x1p-149F})[0] == -2.0F);
  // The reference system's float32 product is -0, and stays so.
  const float reference =
      quantized(parse_format("integer_floor(8, -126, profile=mase)"), {-0x1p-149F})[0];
  CHECK(bits_of(reference) == bits_of(-0.0F));
}

TEST_CASE("integers wider than float32 clamp exactly and round once") {
  const Format format = parse_format("integer(32, 0)");
  const Encoded codes = encoded(format, {3e9F, -3e9F, 16777217.0F});
  CHECK(codes.codes.unpack() == std::vector<std::uint32_t>{0x7fffffffU, 0x80000000U, 16777216U});
  CHECK(decoded(format, codes) == std::vector<float>{2147483648.0F, -2147483648.0F, 16777216.0F});
  CHECK(encoded(parse_format("integer(32, 0, is_signed=false)"), {5e9F}).codes.unpack()[0] ==
        0xffffffffU);
}

TEST_CASE("quantizing equals decoding the codes") {
  Random random(11);
  for (const std::string& rounding : rounding_names)
    for (int trial = 0; trial < 40; ++trial) {
      const Sample sample = random_format(random, rounding);
      INFO(sample.text);
      const Format format = parse_format(sample.text);
      const std::vector<float> in = ordered_values(random, sample);
      check_bits(quantized(format, in), decoded(format, encoded(format, in)));
    }
}

TEST_CASE("quantizing twice changes nothing") {
  Random random(12);
  for (const std::string& rounding : rounding_names)
    for (int trial = 0; trial < 40; ++trial) {
      const Sample sample = random_format(random, rounding);
      INFO(sample.text);
      const Format format = parse_format(sample.text);
      const std::vector<float> once = quantized(format, ordered_values(random, sample));
      check_bits(quantized(format, once), once);
    }
}

TEST_CASE("quantizing keeps the order of values") {
  Random random(13);
  for (const std::string& rounding : deterministic_roundings)
    for (int trial = 0; trial < 40; ++trial) {
      const Sample sample = random_format(random, rounding);
      INFO(sample.text);
      const std::vector<float> out =
          quantized(parse_format(sample.text), ordered_values(random, sample));
      CHECK(std::is_sorted(out.begin(), out.end()));
    }
}

TEST_CASE("the error inside the range is at most half a step, a step for floor") {
  Random random(14);
  for (const std::string& rounding : deterministic_roundings)
    for (int trial = 0; trial < 40; ++trial) {
      const Sample sample = random_format(random, rounding);
      INFO(sample.text);
      const Format format = parse_format(sample.text);
      const std::vector<float> in = ordered_values(random, sample);
      const std::vector<float> out = quantized(format, in);
      const double step = std::ldexp(1.0, -sample.frac_width);
      const auto [low, high] = format.range();
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < in.size(); ++i) {
        const double x = in[i];
        if (x < low || x > high || std::isinf(out[i])) continue;
        // Grid points are exact in double, so neither side of the comparisons is rounded.
        const double q = out[i];
        wrong += rounding == "floor" ? !(q <= x && x < q + step)
                                     : !(q - step / 2 <= x && x <= q + step / 2);
      }
      CHECK(wrong == 0);
    }
}

TEST_CASE("every code of a narrow format survives decoding and encoding") {
  for (const char* text :
       {"integer(8, 4)", "integer(8, 4, is_signed=false)", "integer(1, 0)", "integer_floor(12, -3)",
        "integer(16, 20)", "integer(8, 4, profile=mase)"}) {
    INFO(text);
    const Format format = parse_format(text);
    const int bits = static_cast<int>(format.bits_per_element({}));
    std::vector<std::uint32_t> codes(std::size_t{1} << bits);
    std::iota(codes.begin(), codes.end(), 0U);
    const Encoded all{pack_codes(codes, bits), {}, {}};
    CHECK(encoded(format, decoded(format, all)).codes == all.codes);
  }
}

TEST_CASE("stochastic rounding is unbiased, repeatable and depends on the seed") {
  const std::vector<float> in(100000, 0.3F * 0.0625F);
  const auto mean = [](const std::vector<float>& values) {
    double sum = 0;
    for (const float value : values) sum += value;
    return sum / static_cast<double>(values.size());
  };
  const Format format = parse_format("integer(8, 4, rounding=stochastic, seed=3)");
  const std::vector<float> out = quantized(format, in);
  // Standard deviation of the mean: sqrt(0.3 * 0.7 / 100000) = 0.00145 steps; five of them.
  CHECK(mean(out) / 0.0625 == Approx(0.3).margin(0.0073));
  CHECK(quantized(format, in) == out);
  CHECK(quantized(parse_format("integer(8, 4, rounding=stochastic, seed=4)"), in) != out);
  check_bits(quantized(format, {0.25F, -1.5F, 50.0F}), {0.25F, -1.5F, 7.9375F});
}

TEST_CASE("NaN stays NaN and has no code") {
  for (const char* text : {"integer(8, 4)", "integer_floor(8, 4)", "integer(8, 4, profile=mase)",
                           "integer(8, 4, rounding=stochastic)"}) {
    INFO(text);
    const Format format = parse_format(text);
    CHECK(std::isnan(quantized(format, {1.0F, NAN})[1]));
    CHECK_THROWS_WITH(encoded(format, {1.0F, 2.0F, NAN}), Catch::Contains("element 2 is NaN"));
  }
}

TEST_CASE("the mase profile's codes wrap where its float32 limit does") {
  // RN32(2^25 - 1) = 2^25, modulo 2^26 the code of -2^25.
  CHECK(encoded(parse_format("integer(26, 0, profile=mase)"), {1e9F}).codes.unpack()[0] ==
        0x2000000U);
  CHECK(encoded(parse_format("integer(26, 0)"), {1e9F}).codes.unpack()[0] == 0x1ffffffU);
}

TEST_CASE("range and bits of integer formats") {
  const Format narrow = parse_format("integer(8, 4)");
  CHECK(narrow.range().low == -8.0);
  CHECK(narrow.range().high == 7.9375);
  CHECK(narrow.bits_per_element({3, 5}) == 8.0);
  CHECK(parse_format("integer(3, -2, is_signed=false)").range().high == 28.0);
}

TEST_CASE("codes that do not fit the format or the tensor are refused") {
  const Format format = parse_format("integer(8, 4)");
  const std::vector<std::uint32_t> one{1};
  const Encoded narrow{pack_codes(one, 4), {}, {}}, wrong{pack_codes(one, 8), {}, {}};
  CHECK_THROWS_WITH(decoded(format, narrow), Catch::Contains("4 bits for a format of width 8"));
  std::vector<float> out(2);
  CHECK_THROWS_WITH(format.decode(wrong, out, {2}), Catch::Contains("1 codes for a tensor of 2"));
}

TEST_CASE("TorchScript expressions avoid plain round and refuse stochastic rounding") {
  const std::string text = parse_format("integer(8, 4)").torchscript(1);
  CHECK(text.find("decimals=0") != std::string::npos);
  CHECK(text.find("masked_fill") != std::string::npos);
  const Format stochastic = parse_format("integer(8, 4, rounding=stochastic)");
  CHECK_THROWS_WITH(stochastic.torchscript(1), Catch::Contains("stochastic"));
}
