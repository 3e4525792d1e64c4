// SPDX-License-Identifier: Apache-2.0
// Encodes and decodes Optuna's columns.
#include "search/storage/encode.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <limits>
#include <map>

#include "base/error.hpp"
#include "base/text.hpp"

namespace mase::storage {
namespace {

using samplers::Direction;
using samplers::TrialState;

[[noreturn]] void unknown_word(const std::string& word, const std::string& where) {
  file_error(where + ": " + quote(word) +
             " is not one of Optuna's words; another program wrote the row");
}

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Python's bare words for numbers that JSON lacks, and the strings that replace them during
/// parsing and writing. JSON text cannot contain an unescaped control character.
struct Bare {
  std::string_view word, mark;
  double value;
};
constexpr std::array<Bare, 3> bare_words{{{"-Infinity", "\x01-inf", -infinity},
                                          {"Infinity", "\x01inf", infinity},
                                          {"NaN", "\x01nan", nan}}};

/// Calls `change` on every leaf.
template <class F>
void for_leaves(Tree& tree, const F& change) {
  if (tree.is_list())
    for (Tree& item : tree.as_list()) for_leaves(item, change);
  else if (tree.is_dict())
    for (auto& [key, item] : tree.as_dict()) for_leaves(item, change);
  else
    change(tree);
}

bool same_number(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

void mark_leaf(Tree& leaf) {
  if (!leaf.is_double()) return;
  for (const Bare& bare : bare_words)
    if (same_number(leaf.as_double(), bare.value)) {
      leaf = Tree(bare.mark);
      return;
    }
}

void unmark_leaf(Tree& leaf) {
  if (!leaf.is_string()) return;
  for (const Bare& bare : bare_words)
    if (leaf.as_string() == bare.mark) {
      leaf = Tree(bare.value);
      return;
    }
}

/// The bare word that starts at `at`, if any.
const Bare* bare_at(const std::string& text, std::size_t at) {
  for (const Bare& bare : bare_words)
    if (text.compare(at, bare.word.size(), bare.word) == 0) return &bare;
  return nullptr;
}

/// Replaces bare words outside strings by marks.
std::string mark_text(const std::string& text) {
  std::string out;
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (const Bare* bare = inside ? nullptr : bare_at(text, i)) {
      out += quote(bare->mark);
      i += bare->word.size() - 1;
      continue;
    }
    if (text[i] == '"') inside = !inside;
    out += text[i];
    if (inside && text[i] == '\\' && i + 1 < text.size()) out += text[++i];
  }
  return out;
}

std::optional<Tree> parsed(const std::string& text) {
  try {
    return parse_json(text, "attribute");
  } catch (const Error&) {
    return std::nullopt;
  }
}

void add_named_constraint(std::map<std::string, double>& constraints, const std::string& key,
                          const Tree& value) {
  constexpr std::string_view prefix = "constraints:";
  if (key.starts_with(prefix) && value.is_number())
    constraints[key.substr(prefix.size())] = value.as_double();
}

std::tm broken_down(std::time_t seconds, Zone zone) {
  std::tm parts{};
  zone == Zone::utc ? gmtime_r(&seconds, &parts) : localtime_r(&seconds, &parts);
  return parts;
}

/// Converts the digits after the decimal point to milliseconds.
std::int64_t milliseconds_from(std::string_view digits) {
  std::int64_t value = 0;
  for (std::size_t i = 0; i < 3; ++i)
    value = value * 10 +
            (i < digits.size() && digits[i] >= '0' && digits[i] <= '9' ? digits[i] - '0' : 0);
  return value;
}

}  // namespace

TrialState state_from(const std::string& word, const std::string& where) {
  for (const TrialState state : {TrialState::running, TrialState::complete, TrialState::pruned,
                                 TrialState::fail, TrialState::waiting})
    if (word == samplers::state_name(state)) return state;
  unknown_word(word, where);
}

Direction direction_from(const std::string& word, const std::string& where) {
  for (const Direction direction : {Direction::minimize, Direction::maximize})
    if (word == direction_name(direction)) return direction;
  unknown_word(word, where);
}

std::string_view direction_name(Direction direction) {
  return direction == Direction::minimize ? "MINIMIZE" : "MAXIMIZE";
}

std::vector<std::string> direction_words(const std::vector<Direction>& directions) {
  std::vector<std::string> words;
  for (const Direction direction : directions)
    words.push_back(lower_case(direction_name(direction)));
  return words;
}

Stored stored(double number) {
  if (std::isnan(number)) return {{}, "NAN"};
  if (std::isinf(number)) return {{}, number > 0 ? "INF_POS" : "INF_NEG"};
  return {number, "FINITE"};
}

double number_from(const Value& value, const std::string& type, const std::string& where) {
  if (type == "FINITE") return real(value, where);
  if (type == "INF_POS") return infinity;
  if (type == "INF_NEG") return -infinity;
  if (type == "NAN") return nan;
  unknown_word(type, where);
}

std::string attribute_text(const Tree& tree) {
  Tree marked = tree;
  for_leaves(marked, mark_leaf);
  std::string text = to_json(marked, -1);
  for (const Bare& bare : bare_words)
    text = replace_all(std::move(text), quote(bare.mark), bare.word);
  return text;
}

Tree attribute_from(const std::string& text) {
  if (std::optional<Tree> tree = parsed(text)) return std::move(*tree);
  std::optional<Tree> tree = parsed(mark_text(text));
  if (!tree) return Tree(text);
  for_leaves(*tree, unmark_leaf);
  return std::move(*tree);
}

double violation_of(const Tree& system_attributes) {
  std::map<std::string, double> constraints;
  const Tree* list = system_attributes.find("constraints");
  if (list != nullptr && list->is_list())
    for (std::size_t i = 0; i < list->size(); ++i)
      if (const Tree& item = list->as_list()[i]; item.is_number())
        constraints[std::to_string(i)] = item.as_double();
  for (const auto& [key, value] : system_attributes.as_dict())
    add_named_constraint(constraints, key, value);
  double violation = 0;
  for (const auto& [key, missed] : constraints)
    if (missed > 0) violation += missed;
  return violation;
}

Zone zone_of(const std::string& library_version) {
  const std::optional<std::int64_t> major = parse_int(split(library_version, '.').front());
  return major && *major < 5 ? Zone::local : Zone::utc;
}

std::string time_text(std::int64_t microseconds, Zone zone) {
  const std::tm parts = broken_down(microseconds / 1000000, zone);
  std::array<char, 32> day{}, fraction{};
  std::strftime(day.data(), day.size(), "%Y-%m-%d %H:%M:%S", &parts);
  std::snprintf(fraction.data(), fraction.size(), ".%06d",
                static_cast<int>(microseconds % 1000000));
  return std::string(day.data()) + fraction.data();
}

std::optional<std::int64_t> time_from(const std::string& text, Zone zone) {
  std::tm parts{};
  parts.tm_isdst = -1;
  const char* rest = strptime(text.c_str(), "%Y-%m-%d %H:%M:%S", &parts);
  if (rest == nullptr) return std::nullopt;
  const std::int64_t seconds = zone == Zone::utc ? timegm(&parts) : mktime(&parts);
  return seconds * 1000 + (*rest == '.' ? milliseconds_from(rest + 1) : 0);
}

std::int64_t microseconds_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

}  // namespace mase::storage
