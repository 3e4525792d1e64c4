// SPDX-License-Identifier: Apache-2.0
// Properties of code points and normalisation forms of Unicode. They are those of ICU, whose
// library is opened when the first character beyond ASCII or the first property is asked for.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mase::tokenizer {

/// The general categories in the order of their numbers in ICU, as short names: "Lu", "Nd".
/// The category of a code point is the lowest five bits of its properties.
inline constexpr std::array<std::string_view, 30> category_names{
    "Cn", "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Me", "Mc", "Nd", "Nl", "No", "Zs", "Zl", "Zp",
    "Cc", "Cf", "Co", "Cs", "Pd", "Ps", "Pe", "Pc", "Po", "Sm", "Sc", "Sk", "So", "Pi", "Pf"};

enum class Form : std::uint8_t { nfc, nfd, nfkc, nfkd };

/// What is known of a code point, one bit each, above the category. Hugging Face's library takes
/// some of its tables from Unicode 8.0 and 9.0; `bert_` and `old_` are for those.
enum Property : std::uint32_t {
  white_space = 1u << 5,
  word = 1u << 6,              ///< \w of Rust's regular expressions
  bert_punctuation = 1u << 7,  ///< P* of Unicode 8.0, and ASCII's punctuation
  bert_control = 1u << 8,      ///< Cc, Cf and Co of Unicode 8.0, but for tab and line ends
  bert_nonspacing = 1u << 9,   ///< Mn of Unicode 8.0
  old_mark = 1u << 10,         ///< M* of Unicode 9.0
  has_lower = 1u << 11,        ///< its lower case is another text
  changes = 1u << 12,          ///< shifted by Form: the form of a text with it may be another text
  pattern_word = 1u << 16,     ///< \w of Oniguruma by itself
  set_word = 1u << 17,         ///< \w of Oniguruma in brackets
};

/// The functions of the library; see icu/unicode_library.cpp.
struct UnicodeLibrary {
  void (*properties)(std::uint32_t page, std::uint32_t* of_256) = nullptr;
  char32_t (*lower)(char32_t code) = nullptr;
  void (*normalize)(Form form, std::string_view text, std::string& result) = nullptr;
  /// All code points that equal this one without regard to case, itself included.
  void (*case_variants)(char32_t code, std::vector<char32_t>& variants) = nullptr;
  /// The number of a script by its name or short name, and that of a code point's script.
  int (*script_named)(const std::string& name) = nullptr;  ///< -1 for an unknown name
  int (*script_of)(char32_t code) = nullptr;
  /// The bits of the general categories with a name, "lu" or "uppercaseletter"; 0 without one.
  std::uint32_t (*categories_named)(const std::string& name) = nullptr;
  /// The number of a property that characters have or not; -1 for an unknown name.
  int (*property_named)(const std::string& name) = nullptr;
  bool (*has_property)(char32_t code, int property) = nullptr;
  /// The ends of the extended grapheme clusters of a text.
  void (*graphemes)(std::string_view text, std::vector<std::size_t>& ends) = nullptr;
};
const UnicodeLibrary& unicode_library();  ///< opens it; Error(Fault::file) if that fails

/// Properties by pages of 256 code points, which are filled when they are first asked for.
class PropertyTable {
 public:
  std::uint32_t of(char32_t code) const {
    const std::uint32_t* page = pages_[code >> 8].load(std::memory_order_acquire);
    return (page ? page : fill(code >> 8))[code & 0xFF];
  }

 private:
  const std::uint32_t* fill(std::uint32_t page) const;
  mutable std::array<std::atomic<const std::uint32_t*>, 0x1100> pages_{};
};

extern const PropertyTable property_table;

inline std::uint32_t properties_of(char32_t code) { return property_table.of(code); }
inline bool has(char32_t code, Property property) { return (properties_of(code) & property) != 0; }
inline std::uint32_t category_bit(char32_t code) { return 1u << (properties_of(code) & 31); }

/// The bits of categories that a name means: "L" of five, "Lu" of one; 0 for an unknown name.
std::uint32_t categories_named(std::string_view name);

inline bool is_white_space(char32_t code) {
  return code < 0x80 ? code == ' ' || (code >= 9 && code <= 13) : has(code, white_space);
}
/// Nd, Nl and No.
bool is_numeric(char32_t code);

/// Whether every byte is of ASCII.
bool is_ascii(std::string_view text);
/// Appends the lower case of a code point, which does not depend on its neighbours.
void append_lower(std::string& text, char32_t code);
/// The text in a normalisation form of Unicode 9.0.
void normalize(Form form, std::string& text, std::string& spare);

}  // namespace mase::tokenizer
