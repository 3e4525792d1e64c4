// SPDX-License-Identifier: Apache-2.0
// Joins delimiters with their neighbours.
#include "tokenizer/delimiters.hpp"

#include <algorithm>

namespace mase::tokenizer {
namespace {

struct DelimitersRow {
  std::string_view name;
  Delimiters value;
};
constexpr DelimitersRow behaviors[] = {{"Removed", Delimiters::removed},
                                       {"Isolated", Delimiters::isolated},
                                       {"MergedWithPrevious", Delimiters::merged_with_previous},
                                       {"MergedWithNext", Delimiters::merged_with_next},
                                       {"Contiguous", Delimiters::contiguous}};

/// Joins each part for which joins(part, is_before_a_delimiter) is true with the one before.
template <class Joins>
void join_parts(std::vector<Part>& parts, Joins joins) {
  std::size_t count = 0;
  bool previous = false;
  for (const Part& part : parts) {
    if (count > 0 && joins(part.is_delimiter, previous)) {
      parts[count - 1].begin = std::min(parts[count - 1].begin, part.begin);
      parts[count - 1].end = std::max(parts[count - 1].end, part.end);
    } else {
      parts[count++] = part;
    }
    previous = part.is_delimiter;
  }
  parts.resize(count);
}

bool joins_first_of_run(bool is_delimiter, bool previous) { return is_delimiter && !previous; }

}  // namespace

Delimiters read_delimiters(const Section& section) {
  return row_named(behaviors, section, "behavior").value;
}

Delimiters read_delimiters(const Section& section, Delimiters otherwise) {
  return section.find("behavior") ? read_delimiters(section) : otherwise;
}

void add_parts(Pieces& pieces, const Piece& of, std::vector<Part>& parts, Delimiters delimiters) {
  if (delimiters == Delimiters::contiguous)
    join_parts(parts, [](bool is_delimiter, bool previous) { return is_delimiter == previous; });
  if (delimiters == Delimiters::merged_with_previous) join_parts(parts, joins_first_of_run);
  if (delimiters == Delimiters::merged_with_next) {
    std::reverse(parts.begin(), parts.end());
    join_parts(parts, joins_first_of_run);
    std::reverse(parts.begin(), parts.end());
  }
  for (const Part& part : parts)
    if (delimiters != Delimiters::removed || !part.is_delimiter)
      pieces.add(of, part.begin, part.end);
}

}  // namespace mase::tokenizer
