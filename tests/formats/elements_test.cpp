// SPDX-License-Identifier: Apache-2.0
// The laws that minifloats and logs share, over random parameters: codes, order, nearness.
#include <catch2/catch.hpp>
#include <numeric>

#include "formats/element_support.hpp"

using namespace mase;
using namespace mase::formats;

namespace {

constexpr Rounding all_roundings[] = {Rounding::nearest_even, Rounding::floor,
                                      Rounding::nearest_away, Rounding::stochastic};

template <class Spec>
std::vector<float> numbers_for(Random& random, const Spec& spec) {
  std::vector<float> values = edges_of(spec);
  for (int i = 0; i < 200; ++i) values.push_back(random_pattern(random));
  for (int i = 0; i < 200; ++i) values.push_back(static_cast<float>(random.normal()));
  std::erase_if(values, [](float x) { return std::isnan(x); });
  return values;
}

/// `law(spec, format, numbers)` for random minifloats and logs of every rounding.
template <class Law>
void for_random_formats(std::uint64_t seed, const Law& law) {
  Random random(seed);
  for (int trial = 0; trial < 160; ++trial) {
    const auto check = [&](const auto& spec) {
      INFO(text_of(spec));
      law(spec, parse_format(text_of(spec)), numbers_for(random, spec));
    };
    check(random_minifloat(random, all_roundings[trial % 4]));
    check(random_log(random, all_roundings[trial % 4]));
  }
}

/// The finite values of all codes, in order.
std::vector<double> all_values(const Format& format) {
  const int bits = static_cast<int>(format.bits_per_element({}));
  std::vector<std::uint32_t> codes(std::size_t{1} << bits);
  std::iota(codes.begin(), codes.end(), 0U);
  std::vector<double> values;
  for (const float value : decoded(format, {pack_codes(codes, bits), {}, {}}))
    if (std::isfinite(value)) values.push_back(value);
  std::sort(values.begin(), values.end());
  return values;
}

/// Values of the format on both sides of x, or the outermost ones.
std::pair<double, double> neighbours(const std::vector<double>& values, double x) {
  const auto above = std::lower_bound(values.begin(), values.end(), x);
  if (above == values.end()) return {values.back(), values.back()};
  if (*above == x || above == values.begin()) return {*above, *above};
  return {*std::prev(above), *above};
}

}  // namespace

TEST_CASE("element formats: quantizing equals decoding the codes") {
  for_random_formats(31, [](const auto&, const Format& format, const std::vector<float>& in) {
    const Encoded codes = format.encode(in, shape_of(in.size()));
    CHECK(differences(quantized(format, in), decoded(format, codes)) == 0);
  });
}

TEST_CASE("element formats: quantizing twice changes nothing") {
  for_random_formats(32, [](const auto& spec, const Format& format, const std::vector<float>& in) {
    // A largest value beyond float32 comes out as infinity, which is to become NaN there.
    if constexpr (std::is_same_v<std::decay_t<decltype(spec)>, MinifloatSpec>)
      if (spec.specials == Specials::fn && !spec.saturate && spec.top_exponent() > 127) return;
    const std::vector<float> once = quantized(format, in);
    CHECK(differences(quantized(format, once), once) == 0);
  });
}

TEST_CASE("element formats: quantizing keeps the order of values") {
  for_random_formats(33, [](const auto& spec, const Format& format, std::vector<float> in) {
    if (spec.rounding == Rounding::stochastic) return;
    std::sort(in.begin(), in.end());
    std::vector<float> out = quantized(format, in);
    std::erase_if(out, [](float q) { return std::isnan(q); });  // overflow of fn
    CHECK(std::is_sorted(out.begin(), out.end()));
  });
}

TEST_CASE("element formats: a result is a value of the format next to the number") {
  for_random_formats(34, [](const auto& spec, const Format& format, const std::vector<float>& in) {
    if (spec.width > 8) return;
    const std::vector<double> values = all_values(format);
    const std::vector<float> out = quantized(format, in);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const double x = in[i], q = out[i];
      if (!std::isfinite(out[i]) || std::abs(x) > values.back()) continue;
      const auto [below, above] = neighbours(values, x);
      wrong += q != below && q != above;
      // A log without a zero has nothing between its smallest values of either sign.
      const bool is_gap = below < 0.0 && above > 0.0;
      wrong += spec.rounding == Rounding::floor && q > x && below <= x && !is_gap;
    }
    CHECK(wrong == 0);
  });
}

TEST_CASE("minifloats of up to 8 bits round to the nearest of all their values") {
  for_random_formats(35, [](const auto& spec, const Format& format, const std::vector<float>& in) {
    if constexpr (std::is_same_v<std::decay_t<decltype(spec)>, MinifloatSpec>) {
      const bool nearest =
          spec.rounding == Rounding::nearest_even || spec.rounding == Rounding::nearest_away;
      // Values that float32 rounds have other neighbours than the exact ones.
      if (spec.width > 8 || !nearest || spec.top_exponent() > 127 ||
          spec.lowest_exponent() - spec.fraction_bits() < -149)
        return;
      const std::vector<double> values = all_values(format);
      const std::vector<float> out = quantized(format, in);
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < in.size(); ++i) {
        const double x = in[i], q = out[i];
        if (!std::isfinite(out[i]) || std::abs(x) > values.back()) continue;
        const auto [below, above] = neighbours(values, x);
        const double least = std::min(x - below, above - x);
        wrong += std::abs(q - x) != least;
        const bool is_tie = below != above && x - below == above - x;
        if (is_tie && spec.rounding == Rounding::nearest_away)
          wrong += std::abs(q) != std::max(std::abs(below), std::abs(above));
        // With a hidden bit codes are consecutive, so the even of two codes is the even one of the
        // two multiples of the step.
        if (is_tie && spec.rounding == Rounding::nearest_even && spec.mantissa_bits() > 0 &&
            spec.hidden_bit)
          wrong += minifloat_code(spec, q) % 2 != 0;
      }
      CHECK(wrong == 0);
    }
  });
}

TEST_CASE("element formats: results keep the sign, and zeros have the one that the format says") {
  for_random_formats(36, [](const auto& spec, const Format& format, const std::vector<float>& in) {
    constexpr bool is_minifloat = std::is_same_v<std::decay_t<decltype(spec)>, MinifloatSpec>;
    const std::vector<float> out = quantized(format, in);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < in.size(); ++i) {
      // Sign and magnitude for minifloats; a log's only zero is positive, unless it is a value of
      // the format that float32 lacks.
      const bool keeps_sign = std::signbit(out[i]) == std::signbit(in[i]) || std::isnan(out[i]);
      const bool becomes_positive = !is_minifloat && in[i] <= 0.0F && !std::signbit(out[i]);
      wrong += !keeps_sign && !becomes_positive;
    }
    CHECK(wrong == 0);
  });
}

TEST_CASE("element formats: stochastic results depend on the element's index only") {
  for (const char* text : {"minifloat_ieee(8, 4, 7, rounding=stochastic, seed=3)",
                           "log(8, rounding=stochastic, seed=3)"}) {
    INFO(text);
    const Format format = parse_format(text);
    const std::vector<float> in(100000, 1.3F);
    const std::vector<float> out = quantized(format, in);
    CHECK(quantized(format, in) == out);
    CHECK(quantized(parse_format(std::string(text).replace(std::string(text).find("=3"), 2, "=4")),
                    in) != out);
    double mean = 0;
    for (const float value : out) mean += value / static_cast<double>(out.size());
    // The neighbours are at most 1 apart, so the mean's standard deviation is below 0.0016.
    CHECK(mean == Approx(1.3).margin(0.008));
  }
}

TEST_CASE("element formats without a code for NaN refuse to encode one") {
  for (const char* text : {"minifloat_ieee", "minifloat_denorm", "log", "fp4_e2m1", "fp6_e3m2",
                           "log(8, profile=mase)", "log(8, rounding=stochastic)"}) {
    INFO(text);
    const Format format = parse_format(text);
    CHECK(std::isnan(quantized(format, {1.0F, NAN})[1]));
    const std::vector<float> in{1.0F, 2.0F, NAN};
    CHECK_THROWS_WITH(format.encode(in, {3}), Catch::Contains("element 2 is NaN"));
  }
}

TEST_CASE("element formats: TorchScript refuses stochastic rounding and avoids plain round") {
  for (const char* name : {"minifloat_ieee", "minifloat_denorm", "log", "fp8_e4m3"}) {
    INFO(name);
    CHECK_THROWS_WITH(parse_format(std::string(name) + "(rounding=stochastic)").torchscript(1),
                      Catch::Contains("stochastic"));
    const std::string body = parse_format(name).torchscript(2);
    CHECK(body.find("  return ") != std::string::npos);
    std::size_t rounds = 0, with_decimals = 0;
    for (std::size_t at = 0; (at = body.find("torch.round(", at)) != std::string::npos; ++at)
      ++rounds;
    for (std::size_t at = 0; (at = body.find("decimals=0)", at)) != std::string::npos; ++at)
      ++with_decimals;
    CHECK(rounds == with_decimals);
  }
}
