// SPDX-License-Identifier: Apache-2.0
// The tree of a regular expression.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tokenizer/code_point_set.hpp"
#include "tokenizer/section.hpp"

namespace mase::tokenizer {

enum class RegexKind : std::uint8_t {
  sequence,
  branch,
  set,
  repeat,
  look_ahead,
  look_behind,
  atomic,
  anchor
};
enum class RegexRepeat : std::uint8_t { greedy, lazy, possessive };
enum class RegexAnchor : std::uint8_t {
  line_start,
  line_end,
  text_start,
  text_end,
  last_line_end,
  word_edge,
  no_word_edge,
  search_start
};

struct RegexNode {
  RegexKind kind = RegexKind::sequence;
  std::vector<RegexNode> children;
  CodePointSet set;
  std::uint32_t least = 0, most = 0;
  RegexRepeat repeat = RegexRepeat::greedy;
  bool negated = false;
  RegexAnchor anchor = RegexAnchor::text_start;
};

inline constexpr std::uint32_t without_limit = UINT32_MAX;

/// Error(Fault::file) with the section's place for what is wrong or not known.
RegexNode parse_regex(std::string_view pattern, const Section& section);

}  // namespace mase::tokenizer
