// SPDX-License-Identifier: Apache-2.0
// Values of lists as people read them.
#pragma once

#include <string>

#include "base/tree.hpp"

namespace mase::driver {

/// A string as it is, a list joined by commas, anything else as JSON.
std::string text_of(const Tree& value);

/// What a field allows: "a | b", "0 .. 1", ">= 1" or "".
std::string bounds_of(const Tree& field);

}  // namespace mase::driver
