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

/// The sum of two scaled streams of one shape and order, the second one times a sign; nullopt where
/// numbers are clamped, have lines for each channel, or are sums already.
std::optional<Scaled> sum_of(Scaled a, const Scaled& b, double sign);

/// The step that rounds numbers to a grid of fixed point, with its accumulator.
struct RoundingStep {
  ScaleShift operation;
  Accumulator accumulator;
  Requantise requantise;
};
/// For numbers of one stream.
RoundingStep rounding_step(const Scaled& scaled, const StreamValue& codes, const Grid& grid);

/// Codes of two streams by which their sum rounds to a grid; nullopt where they are too many to
/// look at each pair.
std::optional<IntegerPlane> rounding_plane(const Scaled& scaled, const StreamValue& codes,
                                           const StreamValue& others, const Grid& grid);
/// The ends of the results, which clamps of the numbers may have moved.
Interval ends_of(const Scaled& scaled, const Grid& grid);

}  // namespace mase::integer
