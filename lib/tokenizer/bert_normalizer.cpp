// SPDX-License-Identifier: Apache-2.0
// BertNormalizer: removes control characters, sets ideographs apart, and removes accents and case.
#include <array>

#include "tokenizer/code_points.hpp"
#include "tokenizer/normalizer.hpp"
#include "tokenizer/unicode.hpp"

namespace mase::tokenizer {
namespace {

struct Range {
  char32_t first, last;
};
/// The blocks of ideographs that BERT's own tokenizer splits at.
constexpr std::array<Range, 8> ideographs{{{0x4E00, 0x9FFF},
                                           {0x3400, 0x4DBF},
                                           {0x20000, 0x2A6DF},
                                           {0x2A700, 0x2B73F},
                                           {0x2B740, 0x2B81F},
                                           {0x2B920, 0x2CEAF},
                                           {0xF900, 0xFAFF},
                                           {0x2F800, 0x2FA1F}}};

bool is_ideograph(char32_t code) {
  if (code < 0x3400) return false;
  for (const Range& range : ideographs)
    if (code >= range.first && code <= range.last) return true;
  return false;
}

bool is_removed(char32_t code) {
  if (code < 0x80)
    return (code < ' ' && code != '\t' && code != '\n' && code != '\r') || code == 0x7F;
  return code == 0xFFFD || has(code, bert_control);
}

class BertNormalizer : public Normalizer {
 public:
  explicit BertNormalizer(const Section& section)
      : clean_(section.boolean("clean_text")),
        separate_(section.boolean("handle_chinese_chars")),
        lower_(section.boolean("lowercase")),
        strip_(section.boolean("strip_accents", lower_)) {}

  void apply(Normalized& text) const override {
    if (clean_ || separate_) clean(text);
    if (strip_) normalize(Form::nfd, text.text, text.spare);
    if (strip_ || lower_) strip_and_lower(text);
  }

 private:
  void clean(Normalized& text) const {
    text.spare.clear();
    for (std::size_t at = 0; at < text.text.size();) {
      const bool first = at == 0;
      const char32_t code = next_code_point(text.text, at);
      if (clean_ && is_removed(code)) {
        if (first) text.keeps_start = false;
      } else if (clean_ && is_white_space(code)) {
        text.spare += ' ';
      } else if (separate_ && is_ideograph(code)) {
        text.spare += ' ';
        append_code_point(text.spare, code);
        text.spare += ' ';
      } else {
        append_code_point(text.spare, code);
      }
    }
    text.text.swap(text.spare);
  }

  void strip_and_lower(Normalized& text) const {
    text.spare.clear();
    for (std::size_t at = 0; at < text.text.size();) {
      const bool first = at == 0;
      const char32_t code = next_code_point(text.text, at);
      if (strip_ && code >= 0x80 && has(code, bert_nonspacing)) {
        if (first) text.keeps_start = false;
      } else if (lower_) {
        append_lower(text.spare, code);
      } else {
        append_code_point(text.spare, code);
      }
    }
    text.text.swap(text.spare);
  }

  bool clean_, separate_, lower_, strip_;
};

}  // namespace

std::unique_ptr<Normalizer> read_bert_normalizer(const Section& section) {
  return std::make_unique<BertNormalizer>(section);
}

}  // namespace mase::tokenizer
