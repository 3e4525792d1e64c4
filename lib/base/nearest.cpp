// SPDX-License-Identifier: Apache-2.0
// Finds the name nearest to a mistyped one by edit distance.
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

/// A word that other programs or the reference system use for something of this program.
struct OtherWord {
  std::string_view word;
  std::string_view ours;  ///< the row applies when this is one of the candidates
  std::string_view text;  ///< text to show instead of "'OURS'"
};

constexpr OtherWord other_words[] = {
    {"--epochs", "--max-epochs", ""},
    {"--lr", "--learning-rate", ""},
    {"--optimizer", "--training-optimizer", ""},
    {"--weights", "--load", ""},
    {"--checkpoint", "--load", ""},
    {"--workers", "--n-jobs", ""},
    {"--trials", "--n-trials", ""},
    {"--shape", "--input-shape", ""},
    {"int4", "integer", "integer(width=4)"},
    {"int8", "integer", "integer(width=8)"},
    {"int16", "integer", "integer(width=16)"},
    {"uint8", "integer", "integer(width=8, is_signed=false)"},
    {"fp16", "minifloat_ieee", "minifloat_ieee(width=16, exponent_width=5)"},
    {"float16", "minifloat_ieee", "minifloat_ieee(width=16, exponent_width=5)"},
    {"bf16", "minifloat_ieee", "minifloat_ieee(width=16, exponent_width=8)"},
    {"bfloat16", "minifloat_ieee", "minifloat_ieee(width=16, exponent_width=8)"},
    {"fp8", "fp8_e4m3", ""},
    {"fp4", "fp4_e2m1", ""},
    {"calculate_avg_bits", "average_bits", ""},
    {"conv_bn_fusion", "fuse_batch_norm", ""},
    {"save_mase_graph", "save_graph", ""},
    {"load_mase_graph", "load_graph", ""},
    {"report_node_hardware_type", "report_node_type", ""},
    {"extract_subgraph", "extract", ""},
};

std::string_view in_our_words(std::string_view word, const std::vector<std::string>& candidates) {
  for (const OtherWord& row : other_words)
    if (row.word == lower(word) && std::ranges::find(candidates, row.ours) != candidates.end())
      return row.text.empty() ? row.ours : row.text;
  return "";
}

}  // namespace

/// A name is near enough with at most one edit per three characters, and not one per character.
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
  const std::string_view ours = in_our_words(word, candidates);
  if (!ours.empty()) return "; here it is '" + std::string(ours) + "'";
  const auto near = nearest(word, candidates);
  return near ? "; did you mean '" + *near + "'?" : std::string(otherwise);
}

}  // namespace mase
