// SPDX-License-Identifier: Apache-2.0
// Finds sizes in the text of a condition, and evaluates it by recursive descent.
#include "ir/guards.hpp"

#include <array>
#include <cctype>
#include <string_view>

#include "base/text.hpp"
#include "ir/graph.hpp"

namespace mase::ir {
namespace {

/// Thrown for a text that is not such a condition, or not known.
struct NotKnown {};

/// Sizes, and what conditions make of them, are far below: no sum or product of two overflows.
constexpr std::int64_t greatest_factor = std::int64_t{1} << 31,
                       greatest_value = std::int64_t{1} << 62;

std::int64_t checked(std::int64_t value, std::int64_t most) {
  if (value > most || value < -most) throw NotKnown{};
  return value;
}

std::int64_t times(std::int64_t a, std::int64_t b) {
  return checked(a, greatest_factor) * checked(b, greatest_factor);
}

std::int64_t quotient_below(std::int64_t a, std::int64_t b) {
  if (b == 0) throw NotKnown{};
  const std::int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

std::int64_t rest_above(std::int64_t a, std::int64_t b) { return a - quotient_below(a, b) * b; }

/// Every parenthesis of a text takes a level of the stack, so longer texts are not evaluated.
constexpr std::size_t longest_condition = 4096;

/// One condition. Truth values are the numbers 0 and 1.
class Condition {
 public:
  Condition(std::string_view text, const SizeOf& size_of) : left_(text), size_of_(size_of) {}

  bool is_true() {
    const std::int64_t value = either();
    skip_spaces();
    if (!left_.empty() || !compared_) throw NotKnown{};
    return value != 0;
  }

 private:
  void skip_spaces() {
    while (left_.starts_with(' ')) left_.remove_prefix(1);
  }
  bool take(std::string_view word) {
    skip_spaces();
    if (!left_.starts_with(word)) return false;
    const bool is_word = std::isalpha(static_cast<unsigned char>(word.front())) != 0;
    const std::string_view rest = left_.substr(word.size());
    if (is_word && !rest.empty() && rest.front() != ' ' && rest.front() != '(') return false;
    left_ = rest;
    return true;
  }

  std::int64_t either() {
    std::int64_t value = both();
    while (take("or")) value = static_cast<std::int64_t>((both() != 0) | (value != 0));
    return value;
  }
  std::int64_t both() {
    std::int64_t value = negation();
    while (take("and")) value = static_cast<std::int64_t>((negation() != 0) & (value != 0));
    return value;
  }
  std::int64_t negation() {
    if (take("not")) return static_cast<std::int64_t>(negation() == 0);
    return comparison();
  }
  std::int64_t comparison() {
    const std::int64_t left = sum();
    constexpr std::array<std::string_view, 6> signs{"==", "!=", "<=", ">=", "<", ">"};
    for (std::size_t i = 0; i < signs.size(); ++i) {
      if (!take(signs[i])) continue;
      const std::int64_t right = sum();
      compared_ = true;
      const std::array<bool, 6> truth{left == right, left != right, left <= right, left >= right,
                                      left<right, left> right};
      return static_cast<std::int64_t>(truth[i]);
    }
    return left;
  }
  std::int64_t sum() {
    std::int64_t value = product();
    for (;;) {
      if (take("+"))
        value = checked(value + product(), greatest_value);
      else if (take("-"))
        value = checked(value - product(), greatest_value);
      else
        return value;
    }
  }
  std::int64_t product() {
    std::int64_t value = factor();
    for (;;) {
      if (take("*"))
        value = times(value, factor());
      else if (take("//"))
        value = quotient_below(value, factor());
      else if (take("%"))
        value = rest_above(value, factor());
      else
        return value;
    }
  }
  std::int64_t factor() {
    if (take("-")) return -factor();
    if (take("(")) {
      const std::int64_t value = either();
      if (!take(")")) throw NotKnown{};
      return value;
    }
    return left_.starts_with("size(") ? size() : number(left_);
  }
  std::int64_t size() {
    const std::size_t end = left_.find(')');
    if (end == std::string_view::npos) throw NotKnown{};
    const auto sizes = sizes_in(std::string(left_.substr(0, end + 1)));
    const auto value = sizes ? size_of_(sizes->front()) : std::nullopt;
    if (!value) throw NotKnown{};
    left_.remove_prefix(end + 1);
    return checked(*value, greatest_value);
  }
  std::int64_t number(std::string_view text) {
    const std::string digits(text.substr(0, text.find_first_not_of("0123456789")));
    const auto value = parse_int(digits);
    if (!value) throw NotKnown{};
    left_.remove_prefix(digits.size());
    return checked(*value, greatest_value);
  }

  std::string_view left_;
  const SizeOf& size_of_;
  bool compared_ = false;
};

}  // namespace

std::optional<bool> holds(const std::string& condition, const SizeOf& size_of) {
  if (condition.size() > longest_condition) return std::nullopt;
  try {
    return Condition(condition, size_of).is_true();
  } catch (const NotKnown&) {
    return std::nullopt;
  }
}

std::optional<std::vector<ReadSize>> sizes_in(const std::string& condition) {
  if (condition.find(long_expression) != std::string::npos) return std::nullopt;
  std::vector<ReadSize> sizes;
  for (std::size_t at = condition.find("size("); at != std::string::npos;
       at = condition.find("size(", at + 1)) {
    const std::size_t comma = condition.find(", ", at), end = condition.find(')', at);
    if (comma == std::string::npos || end < comma) return std::nullopt;
    const auto dim = parse_int(condition.substr(comma + 2, end - comma - 2));
    if (!dim) return std::nullopt;
    sizes.push_back({condition.substr(at + 5, comma - at - 5), *dim});
  }
  if (sizes.empty()) return std::nullopt;
  return sizes;
}

}  // namespace mase::ir
