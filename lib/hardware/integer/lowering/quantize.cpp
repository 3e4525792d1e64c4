// SPDX-License-Identifier: Apache-2.0
// Thresholds as accumulators.
#include "hardware/integer/lowering/quantize.hpp"

#include <algorithm>

namespace mase::integer {

std::string no_masks(const std::string& format) {
  return "masks have no code in format '" + format + "'; 'integer' has one for them";
}

Codes codes_within(const Levels& levels, const FixedType& type) {
  Codes codes;
  for (const std::int64_t code : levels.codes)
    if (code >= type.low() && code <= type.high()) codes.push_back(code);
  return codes;
}

namespace {

bool chooses(const Operation& operation, const Levels& levels) {
  if (const auto* insert = std::get_if<Insert>(&operation))
    return std::ranges::all_of(insert->codes, [&](std::int64_t code) { return levels.has(code); });
  if (const auto* gather = std::get_if<Gather>(&operation))
    return levels.has(gather->outside) ||
           std::ranges::find(gather->places, -1) == gather->places.end();
  if (const auto* pool = std::get_if<Pool>(&operation)) return pool->kind == PoolKind::max;
  return only_moves(operation) || std::holds_alternative<Cast>(operation);
}

}  // namespace

bool keeps_levels(const Step& step, const Levels& levels) {
  const Requantise& clamp = step.requantise;
  // A bound beyond all levels, or beyond those that the inputs can be on, changes none.
  const bool low = clamp.low <= std::max<Wide>(levels.codes.front(), step.low) ||
                   levels.has(static_cast<std::int64_t>(clamp.low));
  const bool high = clamp.high >= std::min<Wide>(levels.codes.back(), step.high) ||
                    levels.has(static_cast<std::int64_t>(clamp.high));
  return clamp.shift == 0 && clamp.divisor == 1 && step.frac == levels.type.frac && low && high &&
         chooses(step.operation, levels);
}

}  // namespace mase::integer
