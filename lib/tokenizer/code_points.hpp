// SPDX-License-Identifier: Apache-2.0
// Walking well-formed UTF-8 text by code points.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mase::tokenizer {

/// The code point at `at`, which moves behind it. The text is well-formed.
inline char32_t next_code_point(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at++);
  if (first < 0x80) return first;
  const int more = first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
  char32_t code = first & (0x3Fu >> more);
  for (int i = 0; i < more; ++i) code = code << 6 | (byte(at++) & 0x3Fu);
  return code;
}

/// The start of the code point that ends at `at`, which is not 0.
inline std::size_t previous_start(std::string_view text, std::size_t at) {
  do --at;
  while ((static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
  return at;
}

/// The code point that ends at `at`, which is not 0.
inline char32_t code_point_before(std::string_view text, std::size_t at) {
  std::size_t start = previous_start(text, at);
  return next_code_point(text, start);
}

inline std::size_t count_code_points(std::string_view text) {
  std::size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return count;
}

inline void append_code_point(std::string& text, char32_t code) {
  const auto add = [&](char32_t byte) { text += static_cast<char>(byte); };
  if (code < 0x80) return add(code);
  if (code < 0x800) {
    add(0xC0 | code >> 6);
  } else {
    if (code < 0x10000) {
      add(0xE0 | code >> 12);
    } else {
      add(0xF0 | code >> 18);
      add(0x80 | (code >> 12 & 0x3F));
    }
    add(0x80 | (code >> 6 & 0x3F));
  }
  add(0x80 | (code & 0x3F));
}

}  // namespace mase::tokenizer
