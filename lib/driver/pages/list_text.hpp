// SPDX-License-Identifier: Apache-2.0
// Turns values in lists into text for people.
#pragma once

#include <string>
#include <string_view>

#include "base/tree.hpp"

namespace mase::driver {

/// Returns a string unchanged, a list joined by commas, and anything else as JSON.
std::string text_of(const Tree& value);

/// Whether a member of an entry is shown beside it, and not in the table of all entries.
bool is_nested(std::string_view key);

/// The values that a field allows, as text: "a | b", "0 .. 1", ">= 1" or "".
std::string bounds_of(const Tree& field);

}  // namespace mase::driver
