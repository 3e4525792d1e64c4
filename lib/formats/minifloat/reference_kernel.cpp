// SPDX-License-Identifier: Apache-2.0
// The numbers for kernels of profile reference.
#include "formats/minifloat/reference_kernel.hpp"

#include <algorithm>

#include "formats/minifloat/reference_log2.hpp"

namespace mase::formats::kernels {
namespace {

// Limits an exponent; powers are 0 or infinite far before these limits.
std::int32_t exponent_in_reach(std::int64_t exponent) {
  constexpr std::int64_t most = RoundedLog2::of_infinity;
  return static_cast<std::int32_t>(std::clamp(exponent, -most, most));
}

}  // namespace

ReferenceGrid reference_grid(const MinifloatSpec& spec) {
  ReferenceGrid grid;
  grid.carries = (spec.hidden_bit ? floored_log2() : ceiled_log2()).carries();
  grid.low = -spec.exponent_bias;
  grid.high = (1 << spec.exponent_width) - 1 - spec.exponent_bias;
  grid.unit = static_cast<float>(1 << spec.mantissa_bits());
  return grid;
}

ReferenceGrid reference_grid(const LogSpec& spec) {
  ReferenceGrid grid;
  grid.carries = nearest_log2().carries();
  grid.low = exponent_in_reach(spec.lowest_exponent());
  grid.high = exponent_in_reach(spec.highest_exponent());
  grid.zeta = log_zeta(spec);
  return grid;
}

}  // namespace mase::formats::kernels
