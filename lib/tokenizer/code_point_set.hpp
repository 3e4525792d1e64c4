// SPDX-License-Identifier: Apache-2.0
// Sets of code points, as brackets of regular expressions write them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tokenizer/unicode.hpp"

namespace mase::tokenizer {

class CodePointSet {
 public:
  void add(char32_t first, char32_t last) { ranges_.push_back({first, last}); }
  /// Code points with one of these categories (bits) or properties, or without all of them.
  void add_kind(std::uint32_t categories, std::uint32_t properties, bool negated) {
    kinds_.push_back({categories, properties, none, none, negated});
  }
  void add_script(int script, bool negated) { kinds_.push_back({0, 0, script, none, negated}); }
  /// `property` is a number of the library's, as property_named returns it.
  void add_property(int property, bool negated) {
    kinds_.push_back({0, 0, none, property, negated});
  }
  void add(CodePointSet set) { sets_.push_back(std::move(set)); }
  void negate() { negated_ = !negated_; }
  /// Adds the other cases of its ranges; false if it has more than ranges, or large ones.
  bool ignore_case();
  /// Must be called before `has`, when nothing is added any more.
  void finish();

  bool has(char32_t code) const {
    return code < 128 ? (ascii_[code >> 6] >> (code & 63) & 1) != 0 : search(code);
  }
  const std::array<std::uint64_t, 2>& ascii() const { return ascii_; }

 private:
  static constexpr int none = -1;
  struct Range {
    char32_t first, last;
  };
  struct Kind {
    std::uint32_t categories, properties;
    int script, property;
    bool negated;
  };
  bool search(char32_t code) const;

  std::vector<Range> ranges_;
  std::vector<Kind> kinds_;
  std::vector<CodePointSet> sets_;
  bool negated_ = false;
  std::array<std::uint64_t, 2> ascii_{};
};

}  // namespace mase::tokenizer
