// SPDX-License-Identifier: Apache-2.0
// The definition of the logarithmic format for one element: signed powers of two (formats.md,
// sections 2 and 4). Block formats quantize their elements by it.
#pragma once

#include <cstdint>

#include "formats/rounding.hpp"
#include "formats/seed.hpp"

namespace mase::formats {

/// All parameters of a logarithmic format, resolved: sign and width - 1 bits of exponent. Profile
/// `reference` has the values without a zero.
struct LogSpec {
  int width = 8;
  int exponent_bias = 63;
  bool zero = true;  ///< exponent code 0 means the number 0
  Rounding rounding = Rounding::nearest_even;
  Profile profile = Profile::exact;
  Seed seed{};

  bool has_zero() const { return zero && profile == Profile::exact; }
  std::int64_t lowest_exponent() const;   ///< exponent of the smallest magnitude
  std::int64_t highest_exponent() const;  ///< exponent of the largest magnitude
};

/// 2^exponent; 0 or infinity beyond the range of double.
double power_of_two(std::int64_t exponent);

/// Fake quantization of one element, given as a double since blocks scale exactly first. NaN stays
/// NaN. `exact` only.
double quantize_log_exact(const LogSpec& spec, double x, std::uint64_t index);

/// Profile `reference`, with the offset zeta that lifts zeros, from the tensor's or the block's
/// bias.
float quantize_log_reference(const LogSpec& spec, float x, float zeta);
/// RN32(0.1 * 2^-bias), the zeta of the format `log`.
float log_zeta(const LogSpec& spec);

/// Fake quantization of one float32 in either profile, rounded to float32.
float quantize_log_scalar(const LogSpec& spec, float x, std::uint64_t index);

/// The code, in the low `width` bits, of a value that the format has or that is beyond all values,
/// but not NaN. A 0 that the format lacks (one input of profile `reference`) gets the smallest
/// magnitude.
std::uint32_t log_code(const LogSpec& spec, double value);

/// The value of a code.
double log_value(const LogSpec& spec, std::uint32_t code);

}  // namespace mase::formats
