// SPDX-License-Identifier: Apache-2.0
// Moving elements of a stream to other places.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "hardware/integer/lowering/call.hpp"

namespace mase::integer {

/// A stream on the grid of the result, where it has one: quantizing commutes with moving.
StreamView on_result_grid(const Call& call, const StreamView& x);

/// The coordinate, or the element, of what lies outside of a frame.
constexpr std::int64_t outside = -1;
/// The input coordinate along dimension `dim` of a result coordinate, or outside.
using Move = std::function<std::int64_t(std::size_t dim, std::int64_t coordinate)>;
/// The element of `input` that every element of `result` is, -1 for none, both in torch's order,
/// when each dimension is moved on its own. Ranks are equal.
std::vector<std::int64_t> moved_elements(const Shape& input, const Shape& result, const Move& move);
/// The result of an op that moves each dimension on its own; `value` stands outside.
Operand moved_dims(const Call& call, const StreamView& x, const Move& move, double value = 0.0);

/// A step that only moves codes: requantisation changes nothing.
StreamView emit_moved(const Call& call, Operation operation, std::vector<ValueId> inputs,
                      const FixedType& type, Layout layout);
/// The result whose element i, in torch's order, is element source[i] of the stream's frame, or
/// `outside`, a code, where that is -1. Costs nothing where every element has one place.
Operand gathered(const Call& call, const StreamView& x, const std::vector<std::int64_t>& source,
                 std::int64_t outside = 0);

}  // namespace mase::integer
