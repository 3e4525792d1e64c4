// SPDX-License-Identifier: Apache-2.0
// The words of the graph's text form, read one at a time with their places.
#pragma once

#include <string>
#include <string_view>

#include "base/error.hpp"

namespace mase::ir {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Kinds of words in the text form.
enum class TokenKind {
  end,
  word,    ///< path or keyword: letters, digits, `_`, `.`, `::`; not starting with a digit
  number,  ///< integer or double
  string,  ///< quoted; `text` holds the contents
  node,    ///< %name; `text` holds the name
  training,
  sign,  ///< one of { } ( ) [ ] , : = @ |
};

/// One word of the text form, and its place.
struct Token {
  TokenKind kind = TokenKind::end;
  std::string text;
  std::size_t offset = 0;  ///< of the first character

  bool is_sign(char c) const { return kind == TokenKind::sign && text[0] == c; }
  bool is_word(std::string_view word) const { return kind == TokenKind::word && text == word; }
};

/// True when a text can be written as a word without quotes.
bool is_plain_word(std::string_view text);

/// Reads the text form word by word. A character that cannot begin a word is an Error(Fault::file)
/// with its place.
class Lexer {
 public:
  Lexer(std::string_view text, std::string origin);

  const Token& peek() const { return token_; }
  Token next();                               ///< the current token; moves on
  bool accept(char sign);                     ///< moves on when the current token is this sign
  void expect(char sign);                     ///< error when it is not
  std::string name(std::string_view what);    ///< a word or quoted string; error naming `what`
  std::string string(std::string_view what);  ///< a quoted string

  /// The raw text from the current token up to the end of its line; moves to the next line.
  std::string_view rest_of_line();
  /// The raw text `word` or `word( ... )` with balanced parentheses; moves to what follows.
  std::string_view call_text(std::string_view what);

  /// Throws Error(Fault::file) `origin:line:column: error: message` for the current token.
  [[noreturn]] void fail(const std::string& message) const { fail_at(token_.offset, message); }
  [[noreturn]] void fail_at(std::size_t offset, const std::string& message) const;

 private:
  void advance();
  void skip_blanks();
  void read_word(std::size_t start);
  void read_string();
  void read_number();
  void read_marked(char mark);

  std::string_view text_;
  std::string origin_;
  std::size_t at_ = 0;  ///< offset after the current token
  Token token_;
};

}  // namespace mase::ir
