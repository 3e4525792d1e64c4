// SPDX-License-Identifier: Apache-2.0
// Names that Unicode has are those of ICU; the others, and those that mean something else in
// Oniguruma, are rows here.
#include "tokenizer/regex_properties.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace mase::tokenizer {
namespace {

struct RangeName {
  std::string_view name;
  char32_t first, last;
};
constexpr std::array<RangeName, 5> range_names{{{"any", 0, 0x10FFFF},
                                                {"ascii", 0, 0x7F},
                                                {"xdigit", '0', '9'},
                                                {"xdigit", 'A', 'F'},
                                                {"xdigit", 'a', 'f'}}};

constexpr std::array<std::string_view, 14> posix_names{"alnum", "alpha", "ascii", "blank", "cntrl",
                                                       "digit", "graph", "lower", "print", "punct",
                                                       "space", "upper", "word",  "xdigit"};

/// As names are compared: without regard to case, spaces, '-' and '_'.
std::string loose(std::string_view name) {
  std::string text;
  for (const char c : name)
    if (c != ' ' && c != '-' && c != '_')
      text += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  return text;
}

bool add_ranges(CodePointSet& set, std::string_view name, bool negated) {
  CodePointSet ranges;
  bool found = false;
  for (const RangeName& row : range_names)
    if (row.name == name) {
      ranges.add(row.first, row.last);
      found = true;
    }
  if (negated) ranges.negate();
  if (found) set.add(std::move(ranges));
  return found;
}

}  // namespace

bool add_named(CodePointSet& set, std::string_view name, bool negated) {
  const std::string text = loose(name);
  if (text.empty()) return false;
  if (add_ranges(set, text, negated)) return true;
  if (text == "word") {
    set.add_kind(0, set_word, negated);
  } else if (const std::uint32_t categories = unicode_library().categories_named(text)) {
    set.add_kind(categories, 0, negated);
  } else if (const int script = unicode_library().script_named(text); script >= 0) {
    set.add_script(script, negated);
  } else if (const int property = unicode_library().property_named(text); property >= 0) {
    set.add_property(property, negated);
  } else {
    return false;
  }
  return true;
}

bool add_posix(CodePointSet& set, std::string_view name, bool negated) {
  if (std::ranges::find(posix_names, name) == posix_names.end()) return false;
  if (name != "punct") return add_named(set, name, negated);
  set.add_kind(categories_named("P") | categories_named("S"), 0, negated);
  return true;
}

}  // namespace mase::tokenizer
