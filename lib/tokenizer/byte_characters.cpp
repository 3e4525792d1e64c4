// SPDX-License-Identifier: Apache-2.0
// Bytes that are printable in Latin-1 stand for themselves, others for U+0100 and on, in order.
#include "tokenizer/byte_characters.hpp"

#include <array>

#include "tokenizer/code_points.hpp"

namespace mase::tokenizer {
namespace {

struct Characters {
  std::array<char32_t, 256> code{};
  std::array<char, 512> text{};  // two bytes for each, the second 0 for ASCII
  std::array<short, 0x180> byte{};
};

bool stands_for_itself(int byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

const Characters& characters() {
  static const Characters all = [] {
    Characters made;
    made.byte.fill(-1);
    char32_t next = 0x100;
    for (int byte = 0; byte < 256; ++byte) {
      const char32_t code = stands_for_itself(byte) ? static_cast<char32_t>(byte) : next++;
      std::string text;
      append_code_point(text, code);
      made.code[static_cast<std::size_t>(byte)] = code;
      made.byte[code] = static_cast<short>(byte);
      text.copy(&made.text[static_cast<std::size_t>(byte) * 2], 2);
    }
    return made;
  }();
  return all;
}

}  // namespace

void append_byte_characters(std::string& text, std::string_view bytes) {
  const auto& of_byte = characters().text;
  const std::size_t start = text.size();
  text.resize(start + 2 * bytes.size());
  char* to = text.data() + start;
  for (const char c : bytes) {
    const char* from = &of_byte[static_cast<std::size_t>(static_cast<unsigned char>(c)) * 2];
    *to++ = from[0];
    *to = from[1];
    to += from[1] != 0;
  }
  text.resize(static_cast<std::size_t>(to - text.data()));
}

std::optional<unsigned char> byte_of_character(char32_t code) {
  const auto& bytes = characters().byte;
  if (code >= bytes.size() || bytes[code] < 0) return std::nullopt;
  return static_cast<unsigned char>(bytes[code]);
}

}  // namespace mase::tokenizer
