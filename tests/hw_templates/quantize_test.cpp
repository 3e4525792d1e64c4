// SPDX-License-Identifier: Apache-2.0
// Rounding to levels in RTL against counting thresholds one by one.
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

}  // namespace

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
