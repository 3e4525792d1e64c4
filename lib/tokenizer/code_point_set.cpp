// SPDX-License-Identifier: Apache-2.0
// Membership of code points: a bit each for ASCII, a search for others.
#include "tokenizer/code_point_set.hpp"

namespace mase::tokenizer {

bool CodePointSet::ignore_case() {
  constexpr char32_t largest = 1024;
  std::vector<char32_t> variants;
  for (const Range& range : ranges_) {
    if (range.last - range.first >= largest) return false;
    for (char32_t code = range.first; code <= range.last; ++code)
      unicode_library().case_variants(code, variants);
  }
  for (const char32_t variant : variants) add(variant, variant);
  for (CodePointSet& set : sets_)
    if (!set.ignore_case()) return false;
  return kinds_.empty();
}

void CodePointSet::finish() {
  for (CodePointSet& set : sets_) set.finish();
  for (char32_t code = 0; code < 128; ++code)
    if (search(code)) ascii_[code >> 6] |= std::uint64_t{1} << (code & 63);
}

bool CodePointSet::search(char32_t code) const {
  for (const Range& range : ranges_)
    if (code >= range.first && code <= range.last) return !negated_;
  if (!kinds_.empty()) {
    const std::uint32_t properties = properties_of(code), category = 1u << (properties & 31);
    for (const Kind& kind : kinds_) {
      const bool is_script =
          kind.script != none && unicode_library().script_of(code) == kind.script;
      const bool is_property =
          kind.property != none && unicode_library().has_property(code, kind.property);
      const bool is_kind = (kind.categories & category) != 0 || (kind.properties & properties) != 0;
      if ((is_script || is_property || is_kind) != kind.negated) return !negated_;
    }
  }
  for (const CodePointSet& set : sets_)
    if (set.has(code)) return !negated_;
  return negated_;
}

}  // namespace mase::tokenizer
