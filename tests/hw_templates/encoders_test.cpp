// SPDX-License-Identifier: Apache-2.0
// The parameters of encoders as designs have them, for formal/prove_encoders.py: a hidden test that
// writes them to the file that the environment names.
#include <catch2/catch.hpp>
#include <cstdlib>

#include "base/file.hpp"
#include "hardware/design/modules/quantize.hpp"
#include "hardware/integer/levels.hpp"

namespace mase::rtl_test {
namespace {

std::string encoder_line(const std::string& format, int width, int frac) {
  const auto levels = integer::levels_of(formats::parse_format(format));
  const integer::FixedType from{width, frac, true};
  const integer::Quantize step = integer::quantize_step(*levels, integer::interval_of(from), frac);
  const integer::FixedType to =
      integer::type_for(step.levels.front(), step.levels.back(), levels->type.frac);
  const design::QuantizeModule module = design::quantize_module(step, from, to, 1);
  const auto word = [](const std::string& name, const std::string& value) {
    return " " + name + "=" + value;
  };
  return format + "|" + word("IW", std::to_string(width)) + word("ISIGNED", "1") +
         word("FRAC", std::to_string(frac)) + word("OW", std::to_string(module.out_bits)) +
         word("OFRAC", std::to_string(to.frac)) + word("COUNT", std::to_string(module.count)) +
         word("THRESHOLDS", module.thresholds.digits) + word("LEVELS", module.levels.digits) + "\n";
}

}  // namespace

TEST_CASE("parameters of encoders are written for their proofs", "[.encoders]") {
  const char* file = std::getenv("MASE_ENCODERS");
  REQUIRE(file);
  std::string text;
  for (const std::string format :
       {"fp8_e4m3()", "fp8_e4m3(rounding=floor)", "fp8_e5m2()", "fp6_e3m2()", "fp6_e2m3()",
        "fp4_e2m1()", "fp4_e2m1(rounding=nearest_away)", "minifloat_ieee(5, 2)",
        "minifloat_ieee(8, 3)", "minifloat_denorm(6, 3)", "log(4)", "log(5)", "binary()",
        "ternary(threshold=0.375)", "binary_residual(2, means=[0.5, 0.25])"}) {
    const integer::FixedType own = integer::levels_of(formats::parse_format(format))->type;
    const bool wide = own.width <= 20;  // thresholds of log have 24 bits of their own
    for (const auto& [width, frac] :
         {std::pair{8, own.frac - own.width / 3}, std::pair{16, own.frac + 2},
          std::pair{wide ? own.width + 4 : 24, own.frac + 2}})
      text += encoder_line(format, width, frac);
  }
  write_file(file, text);
}

}  // namespace mase::rtl_test
