// SPDX-License-Identifier: Apache-2.0
// Formats with the parameters that tests of all formats run through: every row of the table, and
// for each what changes its arithmetic.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/array.hpp"
#include "base/random.hpp"

namespace mase::test {

inline const std::vector<std::string>& format_samples() {
  static const std::vector<std::string> texts{
      "integer(8, 4)",
      "integer(6, -3, is_signed=false, rounding=nearest_away)",
      "integer(8, 4, profile=mase)",
      "integer(8, 4, granularity=channel)",
      "integer_floor(7, 3)",
      "fixed(8, 5)",
      "scale_integer(8)",
      "scale_integer(4, is_signed=false)",
      "scale_integer(5, channel_step=[0.30000001192092896])",
      "scale_integer(6, profile=mase)",
      "minifloat_ieee(8, 4, 7)",
      "minifloat_ieee(6, 3, rounding=floor)",
      "minifloat_ieee(8, 5, inf_nan=ieee, saturate=false)",
      "minifloat_ieee(8, 4, inf_nan=fn, rounding=nearest_away)",
      "minifloat_ieee(16, 8, 127, inf_nan=ieee)",
      "minifloat_ieee(8, 4, profile=mase)",
      "minifloat_denorm(8, 4)",
      "minifloat_denorm(6, 3, 5, rounding=floor)",
      "minifloat_denorm(8, 4, profile=mase)",
      "fp8_e4m3",
      "fp8_e5m2",
      "fp6_e3m2",
      "fp6_e2m3",
      "fp4_e2m1",
      "log(8)",
      "log(4, zero=false)",
      "log(5, rounding=floor)",
      "log(6, profile=mase)",
      "block_fp(8, 8)",
      "block_fp(6, 4, block_size=[2, 3], skip_first_dim=true, scale_rule=rceil)",
      "block_fp(8, 8, block_size=[5], max_rank=2, rounding=floor)",
      "block_minifloat(8, 4, 8)",
      "block_minifloat(6, 2, 5, block_size=[3, 4], scale_rule=even)",
      "block_log(8, 8)",
      "block_log(5, 4, block_size=[-1], skip_first_dim=true)",
      "mxint(8)",
      "mxint(4, block_size=5, scale_rule=ceil)",
      "mxint8",
      "mxint8(block_size=8, exponent_min=-2, exponent_max=1)",
      "mxint4",
      "mxint2",
      "mxint_hardware(9, 4, parallelism=[1, 1])",
      "mxfp(4, 3)",
      "mxfp(5, 2, block_size=3, block_dim=0)",
      "mxfp8_e4m3",
      "mxfp8_e5m2",
      "mxfp6_e3m2",
      "mxfp6_e2m3",
      "mxfp4",
      "mxfp4(scale_rule=rceil, block_size=4)",
      "mxfp6_e2m3(block_size=4, exponent_min=-1, exponent_max=3)",
      "nvfp4",
      "nvfp4(block_size=3)",
      "binary",
      "binary(scaled=true)",
      "binary(bipolar=false)",
      "binary_residual(2)",
      "ternary",
      "ternary(scaling_factor=true)",
      "ternary(threshold=0.25)",
  };
  return texts;
}

/// Values where formats change: zeros, subnormals, powers of two and their neighbours, ties, large
/// values; with `specials` also infinities and NaN. The rest is random, over many binades.
inline Array adversarial(const Shape& shape, std::uint64_t seed, bool specials) {
  Array array(DType::float32, shape);
  Random random(seed);
  for (float& value : array.mutable_span<float>()) {
    const int kind = static_cast<int>(random.below(specials ? 200 : 194));
    const auto exponent = static_cast<int>(random.below(20)) - 12;
    const float power = std::ldexp(1.0F, exponent);
    const float sign = random.below(2) == 0 ? 1.0F : -1.0F;
    if (kind < 100)
      value = static_cast<float>(random.normal());
    else if (kind < 130)
      value = sign * power * static_cast<float>(1 + random.uniform(0, 1));
    else if (kind < 160)
      value = sign * power * (1.0F + static_cast<float>(random.below(64)) / 64);
    else if (kind < 170)
      value = sign * std::nextafter(power, 0.0F);
    else if (kind < 180)
      value = sign * std::nextafter(power, 1e9F);
    else if (kind < 184)
      value = sign * 0.0F;
    else if (kind < 188)
      value = sign * std::ldexp(1.0F, -140 + exponent);
    else if (kind < 194)
      value = sign * std::ldexp(1.3F, 60 + exponent);
    else if (kind < 197)
      value = sign * std::numeric_limits<float>::infinity();
    else
      value = std::numeric_limits<float>::quiet_NaN();
  }
  return array;
}

}  // namespace mase::test
