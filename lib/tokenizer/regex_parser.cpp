// SPDX-License-Identifier: Apache-2.0
// Parses regular expressions in Oniguruma's syntax.
#include "tokenizer/regex_parser.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "tokenizer/code_points.hpp"
#include "tokenizer/regex_properties.hpp"

namespace mase::tokenizer {
namespace {

constexpr std::uint32_t most_repeats = 1000;
constexpr int deepest = 100;

struct EscapedCharacter {
  char32_t letter, code;
};
constexpr std::array<EscapedCharacter, 7> escaped_characters{
    {{'n', '\n'}, {'r', '\r'}, {'t', '\t'}, {'f', '\f'}, {'v', '\v'}, {'a', '\a'}, {'e', 27}}};

struct EscapedAnchor {
  char32_t letter;
  RegexAnchor anchor;
};
constexpr std::array<EscapedAnchor, 6> escaped_anchors{{{'A', RegexAnchor::text_start},
                                                        {'z', RegexAnchor::text_end},
                                                        {'Z', RegexAnchor::last_line_end},
                                                        {'b', RegexAnchor::word_edge},
                                                        {'B', RegexAnchor::no_word_edge},
                                                        {'G', RegexAnchor::search_start}}};

/// What (?im) sets for a part of the pattern.
struct RegexOptions {
  bool ignore_case = false;
  bool any_is_all = false;  ///< '.' is a line feed, too
};

class RegexParser {
 public:
  RegexParser(std::string_view pattern, const Section& section)
      : pattern_(pattern), section_(section) {}

  RegexNode parse() {
    RegexNode node = parse_branch(0);
    if (at_ < pattern_.size()) fail("')' without '('");
    return node;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    section_.fail("the pattern " + quote(pattern_) + " has " + what + " at byte " +
                  std::to_string(at_));
  }
  bool is_next(std::string_view text) const { return pattern_.substr(at_).starts_with(text); }
  bool take(std::string_view text) {
    if (!is_next(text)) return false;
    at_ += text.size();
    return true;
  }
  char32_t next() {
    if (at_ >= pattern_.size()) fail("an end that is too early");
    return next_code_point(pattern_, at_);
  }

  RegexNode parse_branch(int depth) {
    if (depth > deepest) fail("groups nested too deep");
    RegexNode branch;
    branch.kind = RegexKind::branch;
    do branch.children.push_back(parse_sequence(depth));
    while (take("|"));
    if (branch.children.size() > 1) return branch;
    RegexNode only = std::move(branch.children.front());
    return only;
  }

  /// `begin`, options such as "im" or "i-m", and `end`; nullopt for anything else.
  std::optional<RegexOptions> take_options(std::string_view begin, char end) {
    if (!is_next(begin)) return std::nullopt;
    const std::size_t first = at_ + begin.size();
    const std::size_t last = std::min(pattern_.find(end, first), pattern_.size());
    RegexOptions options = options_;
    bool on = true;
    for (const char letter : pattern_.substr(first, last - first)) {
      if (letter == 'i')
        options.ignore_case = on;
      else if (letter == 'm')
        options.any_is_all = on;
      else if (letter == '-' && on)
        on = false;
      else
        return std::nullopt;
    }
    if (first == last || last == pattern_.size()) return std::nullopt;
    at_ = last + 1;
    return options;
  }

  /// Options amid a sequence are for the rest of the group, with all its branches: a(?i)b|c is
  /// a(?i:b|c).
  RegexNode parse_sequence(int depth) {
    RegexNode sequence;
    while (at_ < pattern_.size() && !is_next("|") && !is_next(")")) {
      if (const auto options = take_options("(?", ')')) {
        const RegexOptions outer = std::exchange(options_, *options);
        sequence.children.push_back(parse_branch(depth + 1));
        options_ = outer;
        continue;
      }
      sequence.children.push_back(parse_repeats(parse_atom(depth)));
    }
    return sequence;
  }

  RegexNode parse_repeats(RegexNode atom) {
    while (const auto repeat = parse_repeat()) {
      RegexNode node = *repeat;
      node.children.push_back(std::move(atom));
      atom = std::move(node);
    }
    return atom;
  }

  std::optional<RegexNode> parse_repeat() {
    RegexNode node;
    node.kind = RegexKind::repeat;
    node.most = without_limit;
    bool interval = false;
    if (take("+"))
      node.least = 1;
    else if (take("?"))
      node.most = 1;
    else if (!take("*")) {
      interval = parse_interval(node);
      if (!interval) return std::nullopt;
    }
    if (interval && node.least == node.most) return node;
    if (take("?"))
      node.repeat = RegexRepeat::lazy;
    else if (!interval && take("+"))
      node.repeat = RegexRepeat::possessive;
    return node;
  }

  std::optional<std::uint32_t> parse_count() {
    std::uint32_t count = 0;
    const std::size_t start = at_;
    for (; at_ < pattern_.size() && pattern_[at_] >= '0' && pattern_[at_] <= '9'; ++at_) {
      count = count * 10 + static_cast<std::uint32_t>(pattern_[at_] - '0');
      if (count > most_repeats) fail("more than " + std::to_string(most_repeats) + " repeats");
    }
    return at_ == start ? std::nullopt : std::optional(count);
  }

  /// {2}, {2,}, {,3}, {2,3}; anything else is plain text.
  bool parse_interval(RegexNode& node) {
    const std::size_t start = at_;
    if (!take("{")) return false;
    const auto least = parse_count();
    const bool comma = take(",");
    const auto most = comma ? parse_count() : least;
    if ((!least && !most) || !take("}")) {
      at_ = start;
      return false;
    }
    node.least = least.value_or(0);
    node.most = most.value_or(without_limit);
    if (node.most < node.least) fail("an interval whose end is before its start");
    return true;
  }

  RegexNode parse_atom(int depth) {
    if (take("(")) return parse_group(depth);
    if (take("[")) return set_node(parse_set(depth));
    if (take("^")) return anchor_node(RegexAnchor::line_start);
    if (take("$")) return anchor_node(RegexAnchor::line_end);
    if (take(".")) {
      CodePointSet set;
      if (!options_.any_is_all) set.add('\n', '\n');
      set.negate();
      return set_node(std::move(set), false);
    }
    if (is_next("*") || is_next("+") || is_next("?")) fail("nothing to repeat");
    if (take("\\")) {
      for (const EscapedAnchor& row : escaped_anchors)
        if (is_next(std::string(1, static_cast<char>(row.letter)))) {
          ++at_;
          return anchor_node(row.anchor);
        }
      CodePointSet set;
      add_escape(set);
      return set_node(std::move(set));
    }
    CodePointSet set;
    const char32_t code = next();
    set.add(code, code);
    return set_node(std::move(set));
  }

  RegexNode parse_group(int depth) {
    RegexNode group;
    const RegexOptions outer = options_;
    if (take("?=") || is_next("?!")) {
      group.kind = RegexKind::look_ahead;
      group.negated = take("?!");
    } else if (take("?<=") || is_next("?<!")) {
      group.kind = RegexKind::look_behind;
      group.negated = take("?<!");
    } else if (take("?>")) {
      group.kind = RegexKind::atomic;
    } else if (const auto options = take_options("?", ':')) {
      options_ = *options;
    } else if (!take("?:") && is_next("?")) {
      fail(
          "a group that is not known here; known are (...), (?:...), (?i:...), (?m:...), (?i), "
          "(?m), "
          "(?>...), (?=...), (?!...), (?<=...), (?<!...)");
    }
    group.children.push_back(parse_branch(depth + 1));
    options_ = outer;
    if (!take(")")) fail("'(' without ')'");
    return group;
  }

  CodePointSet parse_set(int depth) {
    if (depth > deepest) fail("sets nested too deep");
    ++in_brackets_;
    CodePointSet set;
    const bool negated = take("^");
    CodePointSet outside;  // of one of the sets between which && stands
    bool is_intersection = false;
    for (bool first = true; first || !is_next("]"); first = false) {
      if (take("&&")) {
        set.negate();
        outside.add(std::move(set));
        set = {};
        is_intersection = true;
      } else if (!parse_posix(set)) {
        if (take("["))
          set.add(parse_set(depth + 1));
        else
          parse_range(set);
      }
    }
    take("]");
    --in_brackets_;
    if (is_intersection) {
      set.negate();
      outside.add(std::move(set));
      set = std::move(outside);
      set.negate();
    }
    if (negated) set.negate();
    return set;
  }

  /// [:alpha:] or [:^alpha:]; false if something else stands here.
  bool parse_posix(CodePointSet& set) {
    if (!is_next("[:")) return false;
    const std::size_t end = pattern_.find(":]", at_ + 2);
    if (end == std::string_view::npos) return false;
    std::string_view name = pattern_.substr(at_ + 2, end - at_ - 2);
    const bool negated = name.starts_with("^");
    if (negated) name.remove_prefix(1);
    if (name.find_first_not_of("abcdefghijklmnopqrstuvwxyz") != std::string_view::npos)
      return false;
    if (!add_posix(set, name, negated))
      fail("[:" + std::string(name) +
           ":], which is not known; known are alpha, digit, punct and "
           "others of POSIX,");
    at_ = end + 2;
    return true;
  }

  void parse_range(CodePointSet& set) {
    const auto first = parse_set_character(set);
    if (!first) return;
    const std::size_t start = at_;
    if (!take("-") || is_next("]")) {
      at_ = start;
      return set.add(*first, *first);
    }
    const auto last = parse_set_character(set);
    if (!last || *last < *first) fail("a range whose end is before its start");
    set.add(*first, *last);
  }

  /// A character of a set; nullopt after an escape that stands for many.
  std::optional<char32_t> parse_set_character(CodePointSet& set) {
    if (take("\\")) return escape(set);
    return next();
  }

  void add_escape(CodePointSet& set) {
    if (const auto code = escape(set)) set.add(*code, *code);
  }

  /// The character that an escape stands for, or nullopt if it has added a kind.
  std::optional<char32_t> escape(CodePointSet& set) {
    const char32_t letter = next();
    for (const EscapedCharacter& row : escaped_characters)
      if (row.letter == letter) return row.code;
    if (letter == 'x' || letter == 'u') return parse_hex(letter == 'u' ? 4 : 2);
    if (letter == 'p' || letter == 'P') return add_property(set, letter == 'P');
    const bool upper = letter >= 'A' && letter <= 'Z';
    switch (upper ? letter + 32 : letter) {
      case 's':
        set.add_kind(0, white_space, upper);
        return std::nullopt;
      case 'd':
        set.add_kind(categories_named("Nd"), 0, upper);
        return std::nullopt;
      case 'w':
        set.add_kind(0, in_brackets_ > 0 ? set_word : pattern_word, upper);
        return std::nullopt;
      default:
        break;
    }
    if (letter < 0x80 && is_identifier_char(static_cast<char>(letter)) && letter != '_')
      fail("an escape that is not known here");
    return letter;
  }

  char32_t parse_hex(int digits) {
    const bool braces = take("{");
    char32_t code = 0;
    int count = 0;
    for (; braces ? !is_next("}") : count < digits; ++count) {
      const char32_t digit = next();
      const bool decimal = digit >= '0' && digit <= '9';
      const char32_t lower = digit | 32;
      if (!decimal && (lower < 'a' || lower > 'f')) fail("a wrong hexadecimal digit");
      code = code * 16 + (decimal ? digit - '0' : lower - 'a' + 10);
      if (code > 0x10FFFF) fail("a code point beyond U+10FFFF");
    }
    if (braces) take("}");
    return code;
  }

  std::optional<char32_t> add_property(CodePointSet& set, bool negated) {
    if (!take("{")) fail("a property without braces");
    if (take("^")) negated = !negated;
    const std::size_t end = pattern_.find('}', at_);
    if (end == std::string_view::npos) fail("'{' without '}'");
    const std::string_view name = pattern_.substr(at_, end - at_);
    if (!add_named(set, name, negated))
      fail("the property " + quote(name) +
           ", which is not known; known are general categories, such as L, Lu and N, scripts, "
           "such as Han, and properties of Unicode, such as Alphabetic,");
    at_ = end + 1;
    return std::nullopt;
  }

  RegexNode set_node(CodePointSet set, bool has_case = true) const {
    if (has_case && options_.ignore_case && !set.ignore_case())
      fail("a set without regard to case that is too large");
    RegexNode node;
    node.kind = RegexKind::set;
    set.finish();
    node.set = std::move(set);
    return node;
  }

  static RegexNode anchor_node(RegexAnchor anchor) {
    RegexNode node;
    node.kind = RegexKind::anchor;
    node.anchor = anchor;
    return node;
  }

  std::string_view pattern_;
  const Section& section_;
  std::size_t at_ = 0;
  RegexOptions options_;
  int in_brackets_ = 0;
};

}  // namespace

RegexNode parse_regex(std::string_view pattern, const Section& section) {
  return RegexParser(pattern, section).parse();
}

}  // namespace mase::tokenizer
