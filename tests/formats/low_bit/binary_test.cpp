// SPDX-License-Identifier: Apache-2.0
// Binary formats: values, scales, stochastic signs, codes and refusals.
#include "formats/low_bit/binary.hpp"

#include <catch2/catch.hpp>

#include "formats/scaled_support.hpp"

using namespace mase;
using namespace mase::formats;

namespace {

const Values signs{0.0F, -0.0F, 0.5F, -0.5F, INFINITY, -INFINITY, 1e-40F, -1e-40F};

float alpha_of(const Values& slice) {
  const auto [sum, count] = slow_sum(slice, -1);
  return count == 0 ? 0.0F : static_cast<float>(sum / static_cast<double>(count));
}

}  // namespace

TEST_CASE("binary values follow the sign, and zero is positive") {
  CHECK(quantized("binary", signs) == Values{1, 1, 1, -1, 1, -1, 1, -1});
  CHECK(quantized("binary(bipolar=false, scaled=false)", signs) == Values{0, 0, 1, 0, 1, 0, 1, 0});
  CHECK(quantized("binary(profile=mase)", signs) == Values{1, 1, 1, -1, 1, -1, 1, -1});
}

TEST_CASE("scaled binary values are the mean magnitude of each index of dimension 0") {
  // Means of 1, 3 and of 0.5, 0.25; of all four: 1.1875.
  const Values in{1, -3, 0.5F, -0.25F};
  CHECK(quantized("binary(scaled=true)", in, {2, 2}) == Values{2, -2, 0.375F, -0.375F});
  CHECK(quantized("binary(scaled=true)", in, {2, 1, 2}) == Values{2, -2, 0.375F, -0.375F});
  CHECK(quantized("binary(scaled=true)", in, {4}) == Values{1.1875F, -1.1875F, 1.1875F, -1.1875F});
  CHECK(quantized("binary(bipolar=false)", in, {2, 2}) == Values{2, 0, 0.375F, 0});
  CHECK(quantized("binary(scaled=true)", {-3}, {}) == Values{-3});
}

TEST_CASE("NaN stays NaN and, like infinities, does not affect the scale") {
  const Values in{NAN, 1, -3, INFINITY, -INFINITY};
  CHECK(differences(quantized("binary(scaled=true)", in), {NAN, 2, -2, 2, -2}) == 0);
  CHECK(differences(quantized("binary", in), {NAN, 1, -1, 1, -1}) == 0);
  CHECK(differences(quantized("binary(scaled=true)", {NAN, -INFINITY}), {NAN, 0}) == 0);
  // The reference system compares, so NaN is the lower value there; its mean takes all elements.
  CHECK(quantized("binary(profile=mase)", {NAN, 1}) == Values{-1, 1});
  const std::string reference = "binary(bipolar=false, profile=mase)";
  CHECK(differences(quantized(reference, {1, INFINITY}, {1, 1, 1, 2}), {INFINITY, INFINITY}) == 0);
  CHECK(differences(quantized(reference, {-1, NAN}, {1, 1, 1, 2}), {NAN, NAN}) == 0);
}

TEST_CASE("the scale is the mean of the 16 lanes' sums in double, rounded once") {
  Random random(31);
  for (int trial = 0; trial < 60; ++trial) {
    const std::size_t rows = 1 + random.below(4), size = 1 + random.below(700);
    const Values in = random_numbers(random, rows * size);
    const Encoded encoded =
        parse_format("binary(scaled=true)")
            .encode(in, {static_cast<std::int64_t>(rows), 1, static_cast<std::int64_t>(size)});
    REQUIRE(encoded.scales.size() == (rows * size > 0 ? rows : 0));
    for (std::size_t r = 0; r < rows; ++r) {
      const Values slice(in.begin() + static_cast<std::ptrdiff_t>(r * size),
                         in.begin() + static_cast<std::ptrdiff_t>((r + 1) * size));
      CHECK(bits_of(encoded.scales[r]) == bits_of(alpha_of(slice)));
    }
  }
}

TEST_CASE("binary codes decode to their values, for any shape") {
  Random random(32);
  for (int trial = 0; trial < 400; ++trial) {
    const Shape shape = random_shape(random);
    const Values in = random_numbers(random, static_cast<std::size_t>(numel(shape)));
    for (const char* text :
         {"binary", "binary(scaled=true)", "binary(bipolar=false)",
          "binary(bipolar=false, scaled=false)", "binary(stochastic=true, seed=4)",
          "binary(stochastic=true, scaled=true, bipolar=false)", "binary(profile=mase)"})
      check_round_trip(text, in, shape);
  }
}

TEST_CASE("bipolar values quantize to themselves") {
  Random random(33);
  const Values in = random_numbers(random, 3 * 700);
  for (const char* text : {"binary", "binary(scaled=true)", "binary(profile=mase)"}) {
    const Values once = quantized(text, in, {3, 700});
    CHECK(differences(quantized(text, once, {3, 700}), once) == 0);
  }
}

TEST_CASE("stochastic signs are 1 with probability (x + 1) / 2, by seed and index only") {
  const auto mean = [](float x) {
    const Values out = quantized("binary(stochastic=true, seed=5)", Values(100000, x));
    double sum = 0;
    for (const float value : out) sum += value;
    return sum / 100000;
  };
  // The mean of +-1 is x; its standard deviation at most 1 / sqrt(100000) = 0.0032: five of them.
  for (const float x : {0.0F, 0.5F, -0.25F}) CHECK(mean(x) == Approx(x).margin(0.016));
  CHECK(mean(1.0F) == 1);
  CHECK(mean(3.0F) == 1);
  CHECK(mean(-1.0F) == -1);
  CHECK(mean(-INFINITY) == -1);
  const Values halves(1000, 0.0F);
  CHECK(quantized("binary(stochastic=true)", halves) ==
        quantized("binary(stochastic=true)", halves));
  CHECK(quantized("binary(stochastic=true)", halves) !=
        quantized("binary(stochastic=true, seed=1)", halves));
}

TEST_CASE("bits of binary formats count one float32 per scale") {
  CHECK(parse_format("binary").bits_per_element({4, 8}) == 1.0);
  CHECK(parse_format("binary(scaled=true)").bits_per_element({4, 8}) == 5.0);
  CHECK(parse_format("binary(scaled=true)").bits_per_element({32}) == 2.0);
  CHECK(parse_format("binary(scaled=true)").bits_per_element({0, 8}) == 1.0);
}

TEST_CASE("binary values saturate beyond their range, unless scaled") {
  const Values in{-2, -0.5F, 0, 1, 1.5F, NAN};
  const auto mask = [&](const char* text) {
    std::vector<std::uint8_t> out(in.size(), 7);
    parse_format(text).saturates(in, out, {6});
    return out;
  };
  using Mask = std::vector<std::uint8_t>;
  CHECK(mask("binary") == Mask{1, 0, 0, 0, 1, 0});
  CHECK(mask("binary(bipolar=false, scaled=false)") == Mask{1, 1, 0, 0, 1, 0});
  CHECK(mask("binary(scaled=true)") == Mask{0, 0, 0, 0, 0, 0});
}

TEST_CASE("parameters of binary formats that exclude each other are refused") {
  const auto refuses = [](const char* text, const char* message) {
    CHECK_THROWS_WITH(parse_format(text), Catch::Contains(message));
  };
  refuses("binary(profile=mase, scaled=true)", "if and only if they are not bipolar");
  refuses("binary(profile=mase, bipolar=false, scaled=false)",
          "if and only if they are not bipolar");
  refuses("binary(profile=mase, stochastic=true)", "stochastic");
  refuses("binary(width=0)", "width");
  CHECK_THROWS_WITH(quantized("binary(bipolar=false, profile=mase)", {1, 2}),
                    Catch::Contains("4 dimensions"));
  CHECK_THROWS_WITH(parse_format("binary(stochastic=true)").torchscript(2),
                    Catch::Contains("stochastic"));
}

TEST_CASE("damaged binary tensors are refused") {
  const Format format = parse_format("binary(scaled=true)");
  const Encoded good = format.encode(Values{1, 2, 3, 4}, {2, 2});
  Values out(4);
  const auto refuses = [&](const Encoded& damaged, const char* message) {
    CHECK_THROWS_WITH(format.decode(damaged, out, {2, 2}), Catch::Contains(message));
  };
  refuses({good.codes, {}, {}}, "0 scales");
  refuses({good.codes, {}, {1, 2, 3}}, "3 scales");
  refuses({pack_codes(std::vector<std::uint32_t>{1, 0, 1}, 1), {}, good.scales}, "3 codes");
  refuses({pack_codes(std::vector<std::uint32_t>{1, 0, 1, 1}, 2), {}, good.scales}, "2 bits");
  CHECK_THROWS_WITH(format.encode(Values{1, 2, 3, NAN}, {2, 2}),
                    Catch::Contains("element 3 is NaN"));
  CHECK_THROWS_WITH(parse_format("binary(stochastic=true)").encode(Values{1, NAN}, {2}),
                    Catch::Contains("element 1 is NaN"));
}
