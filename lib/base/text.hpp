// SPDX-License-Identifier: Apache-2.0
// Small functions on text: joining, splitting, exact number text, nearest name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mase {

/// The parts between separators, including empty ones: one more than there are separators.
std::vector<std::string> split(std::string_view text, char separator);
std::string join(const std::vector<std::string>& parts, std::string_view separator);
std::string lower_case(std::string_view text);  ///< A to Z only
std::string_view trim(std::string_view text);   ///< removes spaces, tabs and line ends around it
/// Replaces from left to right; inserted text is not searched again.
std::string replace_all(std::string text, std::string_view from, std::string_view to);
bool is_identifier_char(char c);  ///< [A-Za-z0-9_]

/// The shortest decimal text that reads back to the same double. It always has '.', 'e', "inf" or
/// "nan" in it, so that it never looks like an integer: 0.1, 1.0, 1e-05, inf, -inf, nan.
std::string double_text(double value);
/// A text with a fixed number of decimals, for tables.
std::string fixed_text(double value, int decimals);
/// "1 node", "3 nodes": a number with its noun, whose plural ends in s.
std::string counted(std::size_t number, std::string_view noun);
std::optional<std::int64_t> parse_int(std::string_view text);  ///< whole text, base 10
std::optional<double> parse_double(std::string_view text);     ///< whole text; also inf, -inf, nan

/// A double-quoted string with JSON's escapes.
std::string quote(std::string_view text);

/// The candidate with the smallest edit distance, if `word` is near enough to be a mistyped form.
std::optional<std::string> nearest(std::string_view word,
                                   const std::vector<std::string>& candidates);

/// "; did you mean 'x'?" with the nearest candidate; `otherwise` when none is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates,
                         std::string_view otherwise = "");

}  // namespace mase
