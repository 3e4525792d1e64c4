// SPDX-License-Identifier: Apache-2.0
// Streams with scales of their own: arithmetic with constants, which moves no code.
#pragma once

#include <optional>
#include <vector>

#include "hardware/integer/lowering/call.hpp"

namespace mase::integer {

/// A stream as it is.
Scaled unscaled(const StreamView& stream);

/// Times, by and plus constants: one for all or one for each channel of the codes. nullopt where
/// numbers are clamped at ends that would differ from channel to channel, or constants do not fit.
std::optional<Scaled> multiplied(Scaled scaled, const std::vector<Exact>& factors);
std::optional<Scaled> divided(Scaled scaled, const std::vector<Exact>& divisors);
std::optional<Scaled> shifted(Scaled scaled, const std::vector<Exact>& summands);

/// The step that rounds numbers to a grid of fixed point, with its accumulator.
struct RoundingStep {
  ScaleShift operation;
  Accumulator accumulator;
  Requantise requantise;
};
RoundingStep rounding_step(const Scaled& scaled, const StreamValue& codes, const Grid& grid);

}  // namespace mase::integer
