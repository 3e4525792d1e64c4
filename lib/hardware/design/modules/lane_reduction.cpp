// SPDX-License-Identifier: Apache-2.0
// Cost and paths of lanes that are reduced.
#include "hardware/design/modules/lane_reduction.hpp"

#include "hardware/design/modules/paths.hpp"
#include "hardware/design/modules/primitives.hpp"

namespace mase::design {
namespace {

/// Maximum or sum of one lane; `memory`: the partial results lie in LUT RAM.
Cost reduced_lane_cost(const LaneReduction& lane, bool memory) {
  const auto bits_of_lane = static_cast<double>(lane.sum_bits);
  Cost cost = requantise_stage_cost(lane, {static_cast<int>(lane.sum_bits)});
  cost.ff += bits_of_lane;
  if (lane.sums) {
    cost += adder_cost(lane.sum_bits);
    if (memory) cost.lut += fitted.zero_bit * bits_of_lane;  // zero instead of what was read
    return cost;
  }
  // Beside a memory the sign bit of unsigned codes is compared too.
  const std::int64_t compared = memory ? lane.sum_bits : lane.in_bits;
  cost.lut += memory ? fitted.kept_maximum_bit * bits_of_lane + fitted.kept_maximum
                     : fitted.maximum_bit * static_cast<double>(compared);
  if (compared > 6) cost.carry += static_cast<double>(ceiling(compared, 8));
  return cost;
}

}  // namespace

Cost LaneReduction::lanes_cost(std::int64_t kept) const {
  Cost cost = skid_cost(lanes * out_bits);
  for (std::int64_t lane = 0; lane < lanes; ++lane) cost += reduced_lane_cost(*this, kept > 1);
  if (kept > 1) cost += lut_memory_cost(lanes * sum_bits, kept);
  cost.ff += 2;
  return cost;
}

Paths LaneReduction::lane_paths(const Technology& technology) const {
  const Path lane{.what = "partial result",
                  .luts = sums ? 1.0 : 2.0,
                  .chains = 1,
                  .carry = static_cast<double>(sum_bits),
                  .readers = static_cast<double>(sum_bits * lanes)};
  return {lane, rounding_path(*this, {static_cast<int>(sum_bits)}, technology)};
}

}  // namespace mase::design
