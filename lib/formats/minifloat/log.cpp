// SPDX-License-Identifier: Apache-2.0
// Resolving and checking the parameters of the format log.
#include "formats/minifloat/log.hpp"

namespace mase::formats {
namespace {

int default_log_bias(int width) { return (1 << (width - 2)) - 1; }

}  // namespace

void LogFormat::resolve(const Tree& given, Diagnostics& diagnostics) {
  if (!exponent_bias) exponent_bias = default_log_bias(width);
  check_common(given, false, diagnostics);
  if (profile != "reference") return;
  if (zero && given.find("zero"))
    diagnostics.error(place_of(given, "zero"),
                      "profile 'reference' has no zero; use zero = false, or profile 'exact'");
  zero = false;
}

LogSpec LogFormat::spec() const {
  return {width,
          exponent_bias.value_or(default_log_bias(width)),
          zero,
          rounding_value(),
          profile_value(),
          seed_value()};
}

Range LogFormat::range() const {
  const double largest = power_of_two(spec().highest_exponent());
  return {-largest, largest};
}

FormatRow log_row() { return format_row<LogFormat>(); }

}  // namespace mase::formats
