// SPDX-License-Identifier: Apache-2.0
// The nearest name to a mistyped one, by edit distance.
#include <algorithm>
#include <cctype>

#include "base/text.hpp"

namespace mase {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

/// Optimal string alignment distance: insert, delete, replace, or swap two neighbours.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

/// Near enough: at most one edit per three characters, and never every character of the word.
std::optional<std::string> nearest(std::string_view word,
                                   const std::vector<std::string>& candidates) {
  constexpr std::size_t longest = 256;  // bounds the quadratic time on hostile words
  if (word.empty() || word.size() > longest) return std::nullopt;
  std::size_t best = (word.size() + 2) / 3 + 1;
  std::optional<std::string> found;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > longest) continue;
    const std::size_t edits = distance(lower(word), lower(candidate));
    if (edits >= best || edits >= std::max(word.size(), candidate.size())) continue;
    best = edits;
    found = candidate;
  }
  return found;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates,
                         std::string_view otherwise) {
  const auto near = nearest(word, candidates);
  return near ? "; did you mean '" + *near + "'?" : std::string(otherwise);
}

}  // namespace mase
