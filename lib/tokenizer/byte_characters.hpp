// SPDX-License-Identifier: Apache-2.0
// Printable characters for bytes, as GPT-2 writes them: each byte of a text is a character of a
// token.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mase::tokenizer {

/// Appends the characters of all bytes.
void append_byte_characters(std::string& text, std::string_view bytes);

/// The byte that a character stands for.
std::optional<unsigned char> byte_of_character(char32_t code);

}  // namespace mase::tokenizer
