// SPDX-License-Identifier: Apache-2.0
// Integers with fraction bits per channel: values by hand, and each channel as the format of its
// fraction bits quantizes it alone.
#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "base/random.hpp"
#include "formats/format_support.hpp"

using namespace mase;
using namespace mase::formats;

namespace {

std::string list_text(const std::vector<int>& numbers) {
  std::string text;
  for (const int number : numbers) text += (text.empty() ? "" : ", ") + std::to_string(number);
  return "[" + text + "]";
}

/// "NAME(width, 0, more, channel_frac_width=[...])".
Format by_channel(const std::string& name, int width, const std::vector<int>& fractions,
                  const std::string& more = "") {
  return parse_format(name + "(" + std::to_string(width) + ", 0" + more +
                      ", granularity=channel, channel_frac_width=" + list_text(fractions) + ")");
}

/// Values around the ranges of the channels, with NaN and infinities.
std::vector<float> values_for(const std::vector<int>& fractions, int width, std::size_t each,
                              Random& random) {
  std::vector<float> values;
  for (const int fraction : fractions)
    for (std::size_t i = 0; i < each; ++i)
      values.push_back(static_cast<float>(std::ldexp(random.normal(), width - 1 - fraction)));
  return values;
}

}  // namespace

TEST_CASE("each channel rounds and saturates at its own binary point") {
  const Format format = by_channel("integer", 4, {0, 2, -1});
  const std::vector<float> in{1.3f, 100, 0.3f, -5, 3, 1};
  // Steps 1, 1/4 and 2; 3 / 2 = 1.5 goes to 2, 1 / 2 to 0, as ties go to even codes.
  CHECK(quantized(format, in, {3, 2}) == std::vector<float>{1, 7, 0.25f, -2, 4, 0});
  const Encoded encoded = format.encode(in, {3, 2});
  CHECK(encoded.codes.unpack() == std::vector<std::uint32_t>{1, 7, 1, 8, 2, 0});
  std::vector<std::uint8_t> beyond(6);
  format.saturates(in, beyond, {3, 2});
  CHECK(beyond == std::vector<std::uint8_t>{0, 1, 0, 1, 0, 0});
  // The range of the widest channel is -16 .. 14.
  CHECK(format.range().low == -16);
  CHECK(format.range().high == 14);
}

TEST_CASE("a channel has the bits of the integer format with its fraction") {
  Random random(3);
  const std::vector<int> fractions{3, -2, 0, 30, -30, 7, 7};
  for (const char* name : {"integer", "fixed", "integer_floor"})
    for (const int width : {1, 3, 8, 13, 24, 31})
      for (const char* more : {"", ", is_signed=false", ", profile=reference"})
        for (const std::size_t each : {1, 5, 300}) {
          const Format format = by_channel(name, width, fractions, more);
          INFO(format.text() << ", " << each);
          const std::vector<float> in = values_for(fractions, width, each, random);
          const Shape shape{7, static_cast<std::int64_t>(each)};
          const std::vector<float> all = quantized(format, in, shape);
          std::vector<float> alone, back(in.size());
          for (std::size_t c = 0; c < fractions.size(); ++c) {
            const std::vector<float> part(in.begin() + static_cast<std::ptrdiff_t>(c * each),
                                          in.begin() + static_cast<std::ptrdiff_t>((c + 1) * each));
            const std::string own = std::string(name) + "(" + std::to_string(width) + ", " +
                                    std::to_string(fractions[c]) + more + ")";
            for (const float value : quantized(own, part)) alone.push_back(value);
          }
          CHECK(differences(all, alone) == 0);
          CHECK(differences(quantized(format, all, shape), all) == 0);
          // (Codes of profile reference above 24 bits wrap.)
          format.decode(format.encode(in, shape), back, shape);
          if (width <= 24) CHECK(back == all);
        }
}

TEST_CASE("granularity channel without fractions is frac_width for every channel") {
  const std::vector<float> in{0.3f, -0.7f, 5, 0.01f};
  const Format format = parse_format("integer(6, 3, granularity=channel)");
  CHECK(format.per_channel());
  CHECK(quantized(format, in, {2, 2}) == quantized("integer(6, 3)", in, {2, 2}));
  CHECK(!parse_format("integer(6, 3)").per_channel());
}

TEST_CASE("fractions of channels are read back, cut for people, and cost a byte each") {
  const Format format = by_channel("integer", 4, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  CHECK(parse_format(format.text()) == format);
  CHECK(format.short_text() ==
        "integer(4, 0, granularity=channel, channel_frac_width=[1, 2, 3, 4, ... 9 in all])");
  CHECK(format.bits_per_element({9, 16}) == 4.5);
}

TEST_CASE("tensors without these channels, and random rounding, are refused with a remedy") {
  const Format format = by_channel("integer", 8, {4, 5});
  const std::vector<float> in(3);
  CHECK_THROWS_WITH(quantized(format, in, {3}), Catch::Contains("2 channels") &&
                                                    Catch::Contains("[3] of 3") &&
                                                    Catch::Contains("pass calibrate"));
  CHECK_THROWS_WITH(quantized(format, {1.0f}, {}), Catch::Contains("granularity = \"tensor\""));
  CHECK_THROWS_WITH(parse_format("integer(8, 4, channel_frac_width=[1])"),
                    Catch::Contains("needs granularity = \"channel\""));
  CHECK_THROWS_WITH(parse_format("integer(8, 4, granularity=channel, rounding=stochastic)"),
                    Catch::Contains("stochastic"));
  CHECK_THROWS_WITH(parse_format("integer(8, 4, granularity=channel, channel_frac_width=[1, 200])"),
                    Catch::Contains("-126 .. 126"));
  CHECK_THROWS_WITH(format.encode(std::vector<float>{1, 2, NAN, 4}, {2, 2}),
                    Catch::Contains("element 2 is NaN"));
}
