// SPDX-License-Identifier: Apache-2.0
// Checks on raw TOML text, made before a parser sees it.
#pragma once

#include <string>
#include <string_view>

namespace mase::config {

/// Throws Error(Fault::config) with the place of the first NUL byte, ill-formed UTF-8 sequence,
/// dotted key of more than 32 parts or bracket nested deeper than 32; the last two could exhaust
/// the stack.
void check_limits(std::string_view text, const std::string& file);

}  // namespace mase::config
