// SPDX-License-Identifier: Apache-2.0
// A scanner that knows just enough TOML (strings, comments, brackets, dots) to bound the nesting.
// Up to the first syntax error, where the parser stops, it sees the same tokens as the parser. It
// also refuses non-ASCII characters where toml++ 3.3 asks whether they are blanks, since for U+00E9
// and many others that is undefined behaviour. TOML allows them only in strings and comments; the
// only valid text that is refused has such a character first after a line-ending backslash.
#include "config/limits.hpp"

#include <algorithm>

#include "base/diagnostics.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"

namespace mase::config {
namespace {

constexpr int deepest = 32;

class Scanner {
 public:
  Scanner(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  void check_encoding() {
    for (std::size_t length = 0; at_ < text_.size(); at_ += length) {
      length = utf8_length(text_, at_);
      if (length == 0) fail("this is not UTF-8 text");
      if (text_[at_] == '\0') fail("NUL byte in the text");
    }
    at_ = text_.starts_with("\xEF\xBB\xBF") ? 3 : 0;  // skips a byte-order mark
  }

  void check_nesting() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"' || c == '\'')
        skip_string(c);
      else if (c == '#')
        at_ = std::min(text_.find('\n', at_), text_.size());
      else
        step(c);
    }
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    const std::string_view before = text_.substr(0, at_);
    SourceLocation where{file_, 1, 1};
    for (const char c : before) {
      if (c == '\n') {
        ++where.line;
        where.column = 1;
      } else if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) {
        ++where.column;
      }
    }
    config_error(Diagnostic{Severity::error, where, message}.text());
  }

  bool at_non_ascii() const { return at_ < text_.size() && (text_[at_] & 0x80) != 0; }

  void step(char c) {
    if (at_non_ascii())
      fail("characters that are not ASCII are allowed in quotes and comments only");
    if (c == '.') {
      if (++dots_ >= deepest)
        fail("a dotted key has more than " + std::to_string(deepest) + " parts");
    } else if (!is_identifier_char(c) && c != '-' && c != ' ' && c != '\t') {
      dots_ = 0;
    }
    bracket(c);
    if (c == '=' && !in_value_) {
      equals_ = at_;
      in_value_ = true;
    }
    if (c == ',') in_value_ = !open_.empty() && open_.back() == array;
    if (c == '\n' && open_.empty()) in_value_ = false;
    ++at_;
  }

  /// Tracks open brackets: an array has only values, the others have keys before their values.
  void bracket(char c) {
    if (c == '[' || c == '{') {
      if (in_word()) fail("a bracket in the middle of a word");
      open_.push_back(c == '[' && in_value_ ? array : c);
      if (open_.size() > deepest)
        fail("brackets are nested deeper than " + std::to_string(deepest));
      if (c == '{') in_value_ = false;
    } else if ((c == ']' || c == '}') && !open_.empty()) {
      in_value_ = open_.back() != '[';
      open_.pop_back();
    }
  }

  /// True inside a word, which the parser reads to its end: quotes and brackets there do not count.
  bool in_word() const {
    constexpr std::string_view before = "[{, \t\r\n\xBF";  // the last ends a byte-order mark
    return at_ > 0 && at_ - 1 != equals_ && before.find(text_[at_ - 1]) == std::string_view::npos;
  }

  /// Moves past a string in one or three quotes; the parser reports one that never ends.
  void skip_string(char mark) {
    // In a key, a dot precedes a part; in a value, it is inside a word.
    if (in_word() && (in_value_ || text_[at_ - 1] != '.')) fail("a quote in the middle of a word");
    const std::string triple(3, mark);
    const bool multi_line = text_.substr(at_).starts_with(triple);
    const std::string_view close = std::string_view(triple).substr(0, multi_line ? 3 : 1);
    at_ += close.size();
    while (at_ < text_.size() && !text_.substr(at_).starts_with(close)) {
      if (text_[at_] == '\n' && !multi_line)
        at_ = text_.size();  // a syntax error: the parser gets no further
      else if (mark == '"' && text_[at_] == '\\')
        skip_escape();
      else
        ++at_;
    }
    at_ = std::min(at_ + close.size(), text_.size());
    for (int extra = 0; multi_line && extra < 2 && at_ < text_.size() && text_[at_] == mark;
         ++extra)
      ++at_;  // up to two quotes may directly precede the closing three
  }

  /// Moves past a backslash and the escaped text: one character, or all blanks up to the next text.
  void skip_escape() {
    constexpr std::string_view blanks = " \t\r\n\v\f";
    ++at_;
    if (at_ < text_.size() && blanks.find(text_[at_]) != std::string_view::npos)
      at_ = std::min(text_.find_first_not_of(blanks, at_), text_.size());
    else if (!at_non_ascii())
      at_ = std::min(at_ + 1, text_.size());
    else
      fail("a backslash precedes a character that is not ASCII; write two backslashes");
    if (at_non_ascii() && blanks.find(text_[at_ - 1]) != std::string_view::npos)
      fail(
          "text after a line-ending backslash must start with ASCII; write an escape like \\u00e9");
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0;
  static constexpr char array = 'a';
  int dots_ = 0;
  std::string open_;  ///< array, '[' of a header, '{' of an inline table
  bool in_value_ = false;
  std::size_t equals_ = std::string_view::npos;  ///< the last key's '='; any other is in a word
};

}  // namespace

void check_limits(std::string_view text, const std::string& file) {
  Scanner scanner(text, file);
  scanner.check_encoding();
  scanner.check_nesting();
}

}  // namespace mase::config
