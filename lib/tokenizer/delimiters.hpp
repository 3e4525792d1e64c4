// SPDX-License-Identifier: Apache-2.0
// What becomes of the delimiters when a text is split at them.
#pragma once

#include <cstdint>
#include <vector>

#include "tokenizer/pre_tokenizer.hpp"

namespace mase::tokenizer {

enum class Delimiters : std::uint8_t {
  removed,               ///< "a-b": a, b
  isolated,              ///< a, -, b
  merged_with_previous,  ///< a-, b
  merged_with_next,      ///< a, -b
  contiguous,            ///< as isolated, but a run of delimiters is one piece
};

/// Reads the key `behavior`; `otherwise` when it is absent.
Delimiters read_delimiters(const Section& section);
Delimiters read_delimiters(const Section& section, Delimiters otherwise);

/// A part of a text, a delimiter or what stands between two.
struct Part {
  std::size_t begin, end;
  bool is_delimiter;
};

/// Adds the pieces that the parts of a piece become. The parts are changed.
void add_parts(Pieces& pieces, const Piece& of, std::vector<Part>& parts, Delimiters delimiters);

}  // namespace mase::tokenizer
