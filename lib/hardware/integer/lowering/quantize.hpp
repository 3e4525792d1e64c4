// SPDX-License-Identifier: Apache-2.0
// Rounding to the levels of element formats.
#pragma once

#include <string>

#include "hardware/integer/levels.hpp"
#include "hardware/integer/lowering/requantise.hpp"
#include "hardware/integer/steps/quantize.hpp"

namespace mase::integer {

/// Why a stream with masks cannot be rounded to a format of elements or blocks, and what would do.
std::string no_masks(const std::string& format);

/// The levels that codes of a type can be.
Codes codes_within(const Levels& levels, const FixedType& type);

/// Whether the results of a step whose inputs are on levels are on the same: it chooses among codes
/// of its inputs, clamps them to levels, or adds levels to them.
bool keeps_levels(const Step& step, const Levels& levels);

}  // namespace mase::integer
