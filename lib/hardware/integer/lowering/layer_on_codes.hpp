// SPDX-License-Identifier: Apache-2.0
// Layers on codes (OnCodes in lowering.hpp): what of their constants goes to the lines of results.
#pragma once

#include <optional>
#include <string_view>

#include "hardware/integer/lowering/matrix.hpp"

namespace mase::integer {

/// The weight as codes, with the lines that have its scales. They have the bias, too, but for one
/// that is whole codes of the sums.
Matrix matrix_on_codes(const Call& call, Constants weight, int input_frac,
                       std::string_view argument);
/// A batch norm of running statistics as a scale and a shift of every channel, which are float32
/// numbers; nullopt where they have formats.
std::optional<Scaled> scaled_batch_norm(const Call& call);

}  // namespace mase::integer
