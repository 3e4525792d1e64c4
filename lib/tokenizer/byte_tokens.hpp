// SPDX-License-Identifier: Apache-2.0
// The tokens that stand for bytes: <0x00> to <0xFF>.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "tokenizer/vocabulary.hpp"

namespace mase::tokenizer {

using ByteTokens = std::array<TokenId, 256>;  ///< no_token for those that a vocabulary lacks

inline ByteTokens byte_tokens(const Vocabulary& vocabulary) {
  constexpr const char* digits = "0123456789ABCDEF";
  ByteTokens tokens{};
  for (std::size_t byte = 0; byte < tokens.size(); ++byte)
    tokens[byte] =
        vocabulary.find(std::string("<0x") + digits[byte >> 4] + digits[byte & 15] + ">");
  return tokens;
}

/// The byte that a token stands for.
inline std::optional<char> byte_of_token(std::string_view token) {
  const auto digit = [&](std::size_t i) {
    const char c = token[i];
    return c >= '0' && c <= '9'                 ? c - '0'
           : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                : -1;
  };
  if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return std::nullopt;
  // A plus sign before one digit is a number for the package `tokenizers`, too.
  const int high = token[3] == '+' ? 0 : digit(3), low = digit(4);
  if (high < 0 || low < 0) return std::nullopt;
  return static_cast<char>(high * 16 + low);
}

}  // namespace mase::tokenizer
