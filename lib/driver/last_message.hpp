// SPDX-License-Identifier: Apache-2.0
// What another process of this program printed last.
#pragma once

#include <string>

namespace mase::driver {

/// The last line of `text` that has more than blanks, without the label of this program's errors;
/// "" if there is none.
std::string last_message(const std::string& text);

}  // namespace mase::driver
