// SPDX-License-Identifier: Apache-2.0
// What a file searches for in a text: {"String": text} or {"Regex": pattern}.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "tokenizer/regex.hpp"
#include "tokenizer/section.hpp"

namespace mase::tokenizer {

class Pattern {
 public:
  explicit Pattern(const Section& section);

  /// Calls found(begin, end) for all matches, from left to right.
  template <class Found>
  void find_all(std::string_view text, RegexMemory& memory, Found found) const {
    if (regex_) return regex_->find_all(text, memory, found);
    for (std::size_t at = text.find(plain_); at != std::string_view::npos;
         at = text.find(plain_, at + plain_.size()))
      found(at, at + plain_.size());
  }

 private:
  std::string plain_;
  std::unique_ptr<Regex> regex_;
};

/// Replaces all matches.
class Replacement {
 public:
  explicit Replacement(const Section& section)
      : pattern_(section.at("pattern")), content_(section.text("content")) {}
  void apply(std::string& text, std::string& spare) const;

 private:
  Pattern pattern_;
  std::string content_;
};

}  // namespace mase::tokenizer
