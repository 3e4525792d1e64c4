// SPDX-License-Identifier: Apache-2.0
// Windows over the frames of torch.
#pragma once

#include <cstdint>
#include <vector>

#include "hardware/integer/lowering/call.hpp"

namespace mase::integer {

/// The axis with as many windows as fit between its padding and `pad_after`; `ceil` as torch's
/// ceil_mode: one more where the last stride is not whole, unless it would begin in `pad_after`.
Axis slid(Axis axis, std::int64_t pad_after, bool ceil = false);
/// An axis in `count` windows side by side that cover it.
Axis tiled(std::int64_t size, std::int64_t count);
/// The window of one or two axes over torch [channels, spatial...].
Window window_over(const Shape& frame, const std::vector<Axis>& axes);
/// Refuses a window that gives another shape than the node's.
void check_window(const Call& call, const Window& window, std::int64_t outputs);

}  // namespace mase::integer
