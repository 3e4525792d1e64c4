// SPDX-License-Identifier: Apache-2.0
// Cutting the graph's text form into words.
#include "ir/lexer.hpp"

#include <algorithm>

#include "base/diagnostics.hpp"
#include "base/text.hpp"
#include "base/tree.hpp"

namespace mase::ir {
namespace {

bool starts_word(char c) { return is_identifier_char(c) && !is_digit(c); }
bool is_sign(char c) { return std::string_view("{}()[],:=@|").find(c) != std::string_view::npos; }

// The end of the word at `start`, which has identifier characters, dots and double colons.
std::size_t end_of_word(std::string_view text, std::size_t start) {
  std::size_t at = start;
  while (at < text.size()) {
    if (is_identifier_char(text[at]) || text[at] == '.')
      ++at;
    else if (text.substr(at, 2) == "::")
      at += 2;
    else
      break;
  }
  return at;
}

}  // namespace

bool is_plain_word(std::string_view text) {
  return !text.empty() && starts_word(text.front()) && end_of_word(text, 0) == text.size();
}

Lexer::Lexer(std::string_view text, std::string origin) : text_(text), origin_(std::move(origin)) {
  advance();
}

Token Lexer::next() {
  Token taken = std::move(token_);
  advance();
  return taken;
}

bool Lexer::accept(char sign) {
  if (!token_.is_sign(sign)) return false;
  advance();
  return true;
}

void Lexer::expect(char sign) {
  if (!accept(sign)) fail(std::string("expected '") + sign + "'");
}

std::string Lexer::name(std::string_view what) {
  if (token_.kind != TokenKind::word && token_.kind != TokenKind::string)
    fail("expected " + std::string(what) + ", a word or a quoted text");
  return next().text;
}

std::string Lexer::string(std::string_view what) {
  if (token_.kind != TokenKind::string) fail("expected " + std::string(what) + " in quotes");
  return next().text;
}

std::string_view Lexer::rest_of_line() {
  const std::size_t start = token_.offset;
  const std::size_t end = std::min(text_.find('\n', start), text_.size());
  at_ = end;
  advance();
  return text_.substr(start, end - start);
}

std::string_view Lexer::call_text(std::string_view what) {
  if (token_.kind != TokenKind::word) fail("expected " + std::string(what));
  const std::size_t start = token_.offset;
  std::size_t end = at_;
  if (end < text_.size() && text_[end] == '(') {
    int depth = 0;
    do {
      if (text_[end] == '(') ++depth;
      if (text_[end] == ')') --depth;
      ++end;
    } while (depth > 0 && end < text_.size() && text_[end] != '\n');
    if (depth > 0) fail("missing ')'");
  }
  at_ = end;
  advance();
  return text_.substr(start, end - start);
}

void Lexer::fail_at(std::size_t offset, const std::string& message) const {
  const std::string_view before = text_.substr(0, offset);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0: the first line
  const SourceLocation where{origin_, static_cast<int>(line),
                             static_cast<int>(offset - line_start) + 1};
  file_error(Diagnostic{Severity::error, where, message}.text());
}

void Lexer::skip_blanks() {
  while (at_ < text_.size()) {
    if (text_[at_] == '#')
      at_ = std::min(text_.find('\n', at_), text_.size());
    else if (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')
      ++at_;
    else
      return;
  }
}

void Lexer::advance() {
  skip_blanks();
  token_ = Token{TokenKind::end, "", at_};
  if (at_ == text_.size()) return;
  const char c = text_[at_];
  if (starts_word(c)) return read_word(at_);
  if (is_digit(c) || c == '-' || c == '+') return read_number();
  if (c == '"') return read_string();
  if (c == '%' || c == '$') return read_marked(c);
  if (!is_sign(c)) fail("unexpected character");
  token_ = Token{TokenKind::sign, std::string(1, c), at_};
  ++at_;
}

void Lexer::read_word(std::size_t start) {
  at_ = end_of_word(text_, start);
  token_ = Token{TokenKind::word, std::string(text_.substr(start, at_ - start)), start};
}

// Digits, letters, dots and signs: parse_int and parse_double decide whether it is a number.
void Lexer::read_number() {
  const std::size_t start = at_++;
  while (at_ < text_.size()) {
    const bool exponent_sign = (text_[at_] == '-' || text_[at_] == '+') && text_[at_ - 1] == 'e';
    if (!is_identifier_char(text_[at_]) && text_[at_] != '.' && !exponent_sign) break;
    ++at_;
  }
  token_ = Token{TokenKind::number, std::string(text_.substr(start, at_ - start)), start};
}

void Lexer::read_string() {
  const std::size_t start = at_;
  std::size_t end = start + 1;
  while (end < text_.size() && text_[end] != '"' && text_[end] != '\n')
    end += text_[end] == '\\' ? 2 : 1;
  if (end >= text_.size() || text_[end] != '"') fail_at(start, "missing closing quote");
  at_ = end + 1;
  try {  // the escapes are JSON's
    const Tree tree = parse_json(text_.substr(start, at_ - start), origin_);
    token_ = Token{TokenKind::string, tree.as_string(), start};
  } catch (const Error&) {
    fail_at(start, "malformed quoted text");
  }
}

void Lexer::read_marked(char mark) {
  const std::size_t start = at_++;
  while (at_ < text_.size() && is_identifier_char(text_[at_])) ++at_;
  std::string name(text_.substr(start + 1, at_ - start - 1));
  if (mark == '%' && name.empty()) fail_at(start, "expected a node name after '%'");
  if (mark == '$' && name != "training") fail_at(start, "expected '$training'");
  token_ = Token{mark == '%' ? TokenKind::node : TokenKind::training, std::move(name), start};
}

}  // namespace mase::ir
