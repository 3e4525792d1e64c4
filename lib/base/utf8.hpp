// SPDX-License-Identifier: Apache-2.0
// Walking UTF-8 text: the length of the well-formed sequence at a position.
#pragma once

#include <cstddef>
#include <string_view>

namespace mase {

/// Bytes of the well-formed UTF-8 sequence that starts at `at` (1 to 4), or 0 when there is none:
/// overlong forms, surrogates and values above U+10FFFF count as ill-formed (Unicode, table 3-7).
std::size_t utf8_length(std::string_view text, std::size_t at);

}  // namespace mase
