// SPDX-License-Identifier: Apache-2.0
// Opens the library around ICU and keeps what it says of code points. ICU's own libraries and data
// take longer to load than most commands run.
#include "tokenizer/unicode.hpp"

#include <cstring>
#include <mutex>

#include "base/library.hpp"
#include "tokenizer/code_points.hpp"

namespace mase::tokenizer {

const UnicodeLibrary& unicode_library() {
  static const UnicodeLibrary library = [] {
    using Open = void (*)(UnicodeLibrary & library);
    const auto open = reinterpret_cast<Open>(
        open_library("libmase_icu.so", "mase_open_icu", LibraryScope::own, "ICU", "libicu-dev"));
    UnicodeLibrary functions;
    open(functions);
    return functions;
  }();
  return library;
}

const PropertyTable property_table;

const std::uint32_t* PropertyTable::fill(std::uint32_t page) const {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (const std::uint32_t* filled = pages_[page].load()) return filled;
  auto* values = new std::uint32_t[256];  // for as long as the process runs
  unicode_library().properties(page, values);
  pages_[page].store(values, std::memory_order_release);
  return values;
}

std::uint32_t categories_named(std::string_view name) {
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < category_names.size(); ++i)
    if (!name.empty() && name.size() <= 2 && category_names[i].starts_with(name)) bits |= 1u << i;
  return bits;
}

bool is_numeric(char32_t code) {
  static const std::uint32_t numbers = categories_named("N");
  if (code < 0x80) return code >= '0' && code <= '9';
  return (category_bit(code) & numbers) != 0;
}

bool is_ascii(std::string_view text) {
  std::size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    std::uint64_t bytes;
    std::memcpy(&bytes, text.data() + i, 8);
    if (bytes & 0x8080808080808080u) return false;
  }
  for (; i < text.size(); ++i)
    if (static_cast<unsigned char>(text[i]) >= 0x80) return false;
  return true;
}

void append_lower(std::string& text, char32_t code) {
  if (code < 0x80) {
    text += static_cast<char>(code >= 'A' && code <= 'Z' ? code + 32 : code);
  } else if (code == 0x130) {  // the only one whose lower case is two code points
    text += "i\xCC\x87";
  } else {
    append_code_point(text, has(code, has_lower) ? unicode_library().lower(code) : code);
  }
}

void normalize(Form form, std::string& text, std::string& spare) {
  if (is_ascii(text)) return;
  const std::uint32_t bit = changes << static_cast<int>(form);
  for (std::size_t at = 0; at < text.size();)
    if (properties_of(next_code_point(text, at)) & bit) {
      spare.clear();
      unicode_library().normalize(form, text, spare);
      return text.swap(spare);
    }
}

}  // namespace mase::tokenizer
