// SPDX-License-Identifier: Apache-2.0
// Writes and reads the text form of formats.
#include "formats/format_text.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"

namespace mase::formats {
namespace {

bool is_word(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_identifier_char) &&
         !parse_int(text) && !parse_double(text) && text != "true" && text != "false";
}

/// A list of more than `longest` numbers is written as its first few and its length.
constexpr std::size_t longest = 8, first_few = 4;

std::string value_text(const Tree& value, bool shortened) {
  if (value.is_null()) return "NA";
  if (value.is_bool()) return value.as_bool() ? "true" : "false";
  if (value.is_int()) return std::to_string(value.as_int());
  if (value.is_double()) return double_text(value.as_double());
  if (value.is_string())
    return is_word(value.as_string()) ? value.as_string() : quote(value.as_string());
  MASE_CHECK(value.is_list(), "a format's field has no text form");
  std::vector<std::string> items;
  const auto& list = value.as_list();
  const bool cut = shortened && list.size() > longest;
  for (std::size_t i = 0; i < (cut ? first_few : list.size()); ++i)
    items.push_back(value_text(list[i], shortened));
  if (cut) items.push_back("... " + std::to_string(list.size()) + " in all");
  return "[" + join(items, ", ") + "]";
}

// The value of a bare token between separators.
Tree token_value(const std::string& token) {
  if (token == "true" || token == "false") return Tree(token == "true");
  if (const auto whole = parse_int(token)) return Tree(*whole);
  if (const auto number = parse_double(token)) return Tree(*number);
  return Tree(token);
}

class CallReader {
 public:
  explicit CallReader(std::string_view text) : text_(text) {}

  FormatCall read() {
    FormatCall call;
    skip_spaces();
    call.where = here();
    call.name = token();
    call.keyed.where = call.where;
    if (accept('(') && !accept(')')) {
      do argument(call);
      while (accept(','));
      expect(')', "',' or ')'");
    }
    if (at_ < text_.size()) fail("unexpected text after the format");
    return call;
  }

 private:
  SourceLocation here() const {
    return {"format '" + std::string(text_) + "'", 1, static_cast<int>(at_) + 1};
  }
  [[noreturn]] void fail(const std::string& message) const {
    config_error(here().text() + ": error: " + message +
                 "; a format is written like integer(8, 4) or integer(8, 4, is_signed=false)");
  }
  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool accept(char wanted) {
    skip_spaces();
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    skip_spaces();
    return true;
  }
  void expect(char wanted, const std::string& description) {
    if (!accept(wanted)) fail("expected " + description);
  }

  std::string token() {
    skip_spaces();
    const std::size_t first = at_;
    while (at_ < text_.size() && (is_identifier_char(text_[at_]) || text_[at_] == '.' ||
                                  text_[at_] == '-' || text_[at_] == '+'))
      ++at_;
    if (at_ == first) fail("expected a name or a value");
    std::string found(text_.substr(first, at_ - first));
    skip_spaces();
    return found;
  }

  // Reads text with JSON's escapes, as quote() writes them, by the parser of JSON.
  std::string quoted() {
    const std::size_t first = at_++;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    if (at_ >= text_.size()) {
      at_ = first;
      fail("a quoted text has no end");
    }
    ++at_;
    const Tree string = parse_json(text_.substr(first, at_ - first), here().text());
    skip_spaces();
    return string.as_string();
  }

  Tree value(int depth) {
    skip_spaces();
    const SourceLocation where = here();
    Tree found;
    if (depth > 4) fail("lists are nested too deeply");
    if (accept('[')) {
      found = Tree::list();
      if (!accept(']')) {
        do found.push_back(value(depth + 1));
        while (accept(','));
        expect(']', "',' or ']'");
      }
    } else if (at_ < text_.size() && text_[at_] == '"') {
      found = Tree(quoted());
    } else {
      found = token_value(token());
    }
    found.where = where;
    return found;
  }

  void argument(FormatCall& call) {
    skip_spaces();
    const SourceLocation where = here();
    const std::size_t first = at_;
    Tree found = value(0);
    const std::string key(trim(text_.substr(first, at_ - first)));
    if (!accept('=')) {
      if (call.keyed.size() != 0) fail("a value without a key follows one with a key");
      call.positional.push_back(std::move(found));
      return;
    }
    if (!is_word(key)) fail("'" + key + "' is not a valid name of a parameter");
    if (call.keyed.find(key)) fail("'" + key + "' is given twice");
    Tree& entry = call.keyed[key];
    entry = value(0);
    entry.key_where = where;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::string format_text(std::string_view name, int positional, const Tree& fields,
                        const Tree& defaults, bool shortened) {
  std::vector<std::string> arguments;
  int index = 0;
  for (const auto& [key, value] : fields.as_dict()) {
    if (index++ < positional)
      arguments.push_back(value_text(value, shortened));
    else if (const Tree* usual = defaults.find(key); !usual || value != *usual)
      arguments.push_back(key + "=" + value_text(value, shortened));
  }
  return std::string(name) + "(" + join(arguments, ", ") + ")";
}

FormatCall read_format_call(std::string_view text) { return CallReader(text).read(); }

}  // namespace mase::formats
