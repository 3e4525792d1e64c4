// SPDX-License-Identifier: Apache-2.0
// Walking UTF-8 text: the length of the well-formed sequence at a position.
#pragma once

#include <cstddef>
#include <string_view>

namespace mase {

/// Bytes of the well-formed UTF-8 sequence at `at` (1 to 4); 0 when there is no such sequence.
/// Overlong forms, surrogates and values above U+10FFFF are ill-formed (Unicode, table 3-7).
std::size_t utf8_length(std::string_view text, std::size_t at);

}  // namespace mase
