// SPDX-License-Identifier: Apache-2.0
// Arithmetic on sizes, and the operators of Python that exported programs have for it.
#pragma once

#include <string_view>

namespace mase::pt2 {

/// "aten::add.int" → "_operator.add"; "" for an operator without a counterpart.
std::string_view size_target(std::string_view op);

/// Whether the integer that an operator computes can depend on sizes that vary: arithmetic with a
/// counterpart, a size, and an item of sizes.
bool can_vary(std::string_view op);

}  // namespace mase::pt2
