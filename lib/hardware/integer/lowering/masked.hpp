// SPDX-License-Identifier: Apache-2.0
// Streams with masks: what makes them, and steps on them.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "hardware/integer/lowering/call.hpp"

namespace mase::integer {

/// A stream of such codes and masks, whose code is below all of them and from any of them so far
/// away that softmax's exponential of the distance is 0.
Masked with_masks(const FixedType& type);
/// The step of a node whose result has masks, exact, at the binary point of the accumulator.
StreamView emit_masked(const Call& call, Operation operation, std::vector<ValueId> inputs,
                       const Accumulator& accumulator, const Masked& masks, Layout layout);
/// The stream, on the grid of the result, where `kept`, in its order, is 1, elsewhere a code or,
/// without one, masks.
StreamView masked_where(const Call& call, const StreamView& x, Constants kept,
                        std::optional<Wide> otherwise = std::nullopt);
/// The sum of streams of which some have masks, or the difference, of which the first one has: a
/// mask where one of them is.
StreamView masked_sum(const Call& call, BinaryKind kind, const StreamView& a, const StreamView& b);
/// What a function of each element, which has steps of its own, makes of a stream; where that is a
/// mask, masks.
Operand around_masks(const Call& call, const StreamView& x,
                     const std::function<Operand(const StreamView&)>& lower);
/// A stream with masks on a grid, for a port of the node: itself where that has all other codes.
StreamView masked_on(const Call& call, const StreamView& x, const Grid& grid,
                     const std::string& port);
/// A product with a factor so negative that it makes masks of all elements but 0.
StreamView masked_product(const Call& call, const StreamView& x, double factor);

}  // namespace mase::integer
