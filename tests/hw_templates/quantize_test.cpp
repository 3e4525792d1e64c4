// SPDX-License-Identifier: Apache-2.0
// Rounding to levels in RTL against counting thresholds one by one.
#include <algorithm>
#include <catch2/catch.hpp>

#include "hardware/design/modules/quantize.hpp"
#include "hardware/integer/levels.hpp"
#include "support/module_bench.hpp"

namespace mase::rtl_test {
namespace {

using integer::FixedType;
using integer::Wide;

constexpr std::int64_t quantize_frames = 48;

/// The codes of a port around the thresholds come first.
void plant(Port& port, const std::vector<Wide>& thresholds) {
  std::size_t at = 0;
  for (const Wide threshold : thresholds)
    for (const Wide code : {threshold - 1, threshold, threshold + 1})
      if (code <= port.type.high() && at < port.codes.size())
        port.codes[at++] = static_cast<std::int64_t>(code);
}

Case quantize_case(Random& random, const std::string& format, int width) {
  const auto levels = integer::levels_of(formats::parse_format(format));
  // Without a sign an element is never below 0, where a format of two levels has its first one.
  const bool is_signed = levels->codes.size() == 2 || random.below(2) == 0;
  const FixedType from{width, levels->type.frac + static_cast<int>(between(random, -2, 4)),
                       is_signed};
  const integer::Quantize step =
      integer::quantize_step(*levels, integer::interval_of(from), from.frac);
  const FixedType to =
      integer::type_for(step.levels.front(), step.levels.back(), levels->type.frac);
  Port in = random_port(random, between(random, 1, 3), from, quantize_frames * 12);
  plant(in, step.thresholds);
  Port out{in.lanes, to, {}};
  for (const std::int64_t code : in.codes) {
    std::size_t reached = 0;
    for (const Wide threshold : step.thresholds) reached += code >= threshold ? 1 : 0;
    out.codes.push_back(step.levels[reached]);
  }
  return case_of(design::quantize_module(step, from, to, in.lanes), {in}, {out});
}

/// Elements of 100 bits: a beat of the bench brings each as two halves.
Case wide_quantize_case(Random& random, const std::string& format) {
  constexpr int half = 50;
  const auto levels = integer::levels_of(formats::parse_format(format));
  const FixedType from{2 * half, levels->type.frac + 50, true};
  const integer::Quantize step =
      integer::quantize_step(*levels, integer::interval_of(from), from.frac);
  std::vector<Wide> numbers{from.low(), from.high(), -1, 0};
  for (const Wide threshold : step.thresholds)
    for (const Wide number : {threshold - 1, threshold, threshold + 1}) numbers.push_back(number);
  while (numbers.size() % quantize_frames != 0)
    numbers.push_back(from.low() >> between(random, 0, 2 * half));
  const FixedType to =
      integer::type_for(step.levels.front(), step.levels.back(), levels->type.frac);
  Port in{2, {half, 0, false}, {}}, out{1, to, {}};
  for (const Wide number : numbers) {
    const Wide mask = in.type.high();
    in.codes.push_back(static_cast<std::int64_t>(number & mask));
    in.codes.push_back(static_cast<std::int64_t>((number >> half) & mask));
    std::size_t reached = 0;
    for (const Wide threshold : step.thresholds) reached += number >= threshold ? 1 : 0;
    out.codes.push_back(step.levels[reached]);
  }
  return case_of(design::quantize_module(step, from, to, 1), {in}, {out});
}

/// Thresholds of channels of their own, some of which no element reaches, and some all do.
Case channel_case(Random& random, std::int64_t channels, std::int64_t lanes, std::int64_t count) {
  const FixedType from{static_cast<int>(between(random, 1, 14)), 0, random.below(2) == 0};
  integer::Quantize step{"", {}, random_codes(random, {7, 0, true}, count + 1), channels};
  for (std::int64_t c = 0; c < channels; ++c) {
    std::vector<Wide> row;
    for (std::int64_t i = 0; i < count; ++i)
      row.push_back(between(random, static_cast<std::int64_t>(from.low()),
                            static_cast<std::int64_t>(from.high()) + 1));
    std::ranges::sort(row);
    step.thresholds.insert(step.thresholds.end(), row.begin(), row.end());
  }
  const FixedType to{7, 0, true};
  const Port in = random_port(random, lanes, from, quantize_frames * channels / lanes);
  Port out{lanes, to, {}};
  for (std::size_t i = 0; i < in.codes.size(); ++i) {
    const std::size_t first = i % integer::at(channels) * integer::at(count);
    std::size_t reached = 0;
    for (std::size_t t = first; t < first + integer::at(count); ++t)
      reached += in.codes[i] >= step.thresholds[t] ? 1 : 0;
    out.codes.push_back(step.levels[reached]);
  }
  return case_of(design::quantize_module(step, from, to, lanes), {in}, {out});
}

}  // namespace

TEST_CASE("channels in RTL have thresholds of their own") {
  Random random(31);
  std::vector<Case> cases;
  for (const std::int64_t count : {1, 2, 3, 6, 15})
    for (const auto& [channels, lanes] :
         {std::pair{2, 2}, {2, 1}, {3, 1}, {6, 2}, {12, 4}, {35, 5}})
      cases.push_back(channel_case(random, channels, lanes, count));
  check_cases(cases, quantize_frames);
}

TEST_CASE("elements of 100 bits in RTL are rounded to levels") {
  Random random(29);
  std::vector<Case> cases;
  for (const std::string format : {"fp8_e5m2()", "fp8_e4m3()", "fp4_e2m1()", "log(5)"})
    cases.push_back(wide_quantize_case(random, format));
  check_cases(cases, quantize_frames);
}

TEST_CASE("elements in RTL are rounded to the levels of every element format") {
  Random random(23);
  std::vector<Case> cases;
  for (const std::string format : {"fp8_e4m3()", "fp8_e5m2()", "fp6_e3m2()", "fp6_e2m3()",
                                   "fp4_e2m1()", "log(5)", "minifloat_ieee(5, 2, inf_nan=fn)",
                                   "minifloat_denorm(6, 3)", "binary()", "ternary(threshold=0.25)"})
    for (const int width : {6, 12, 40}) cases.push_back(quantize_case(random, format, width));
  check_cases(cases, quantize_frames);
}

}  // namespace mase::rtl_test
