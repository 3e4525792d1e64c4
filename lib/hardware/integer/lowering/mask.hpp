// SPDX-License-Identifier: Apache-2.0
// Numbers and truths that are constant.
#pragma once

#include <optional>
#include <string_view>

#include "hardware/integer/lowering/call.hpp"

namespace mase::integer {

/// The number that an argument is, as a number or a constant tensor that is the same everywhere.
std::optional<double> number_in(const Call& call, std::string_view argument);
/// Ones where a constant is not 0; its shape.
Constants truths_of(const Call& call, std::string_view argument);

}  // namespace mase::integer
