// SPDX-License-Identifier: Apache-2.0
// The rules of quoting are those of POSIX (Shell Command Language, 2.2).
#include "base/words.hpp"

#include <algorithm>

namespace mase {
namespace {

constexpr std::string_view blanks = " \t\n", of_shells = "|&;<>()$`*";

class Splitter {
 public:
  explicit Splitter(std::string_view command) : rest_(command) {}

  Words split() {
    while (skip_blanks() && out_.problem.empty()) out_.words.push_back(word());
    if (out_.problem.empty()) return out_;
    return {{}, out_.problem};
  }

 private:
  bool skip_blanks() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(blanks), rest_.size()));
    return !rest_.empty();
  }

  char take() {
    const char next = rest_.front();
    rest_.remove_prefix(1);
    return next;
  }

  std::string word() {
    std::string text;
    if (rest_.front() == '~') refuse('~');
    while (!rest_.empty() && blanks.find(rest_.front()) == std::string_view::npos) {
      const char next = take();
      if (next == '\'' || next == '"')
        take_quoted(next, text);
      else if (next == '\\' && !rest_.empty())
        text += take();
      else
        take_plain(next, text);
    }
    return text;
  }

  void take_plain(char next, std::string& text) {
    if (of_shells.find(next) != std::string_view::npos) refuse(next);
    text += next;
  }

  /// Up to the closing quote. Between double quotes, \ stands before what would mean something.
  void take_quoted(char quote, std::string& text) {
    while (!rest_.empty()) {
      const char next = take();
      if (next == quote) return;
      const bool escapes = quote == '"' && next == '\\' && !rest_.empty() &&
                           std::string_view("\"\\$`").find(rest_.front()) != std::string_view::npos;
      text += escapes ? take() : next;
    }
    out_.problem = std::string("the quote ") + quote + " is not closed";
  }

  void refuse(char meant) {
    if (out_.problem.empty())
      out_.problem = std::string("no shell runs it, so '") + meant +
                     "' would have no effect; quote it, or let sh -c '...' run the line";
  }

  std::string_view rest_;
  Words out_;
};

}  // namespace

Words split_words(std::string_view command) { return Splitter(command).split(); }

}  // namespace mase
