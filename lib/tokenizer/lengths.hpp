// SPDX-License-Identifier: Apache-2.0
// Truncation and padding, as a file asks for them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tokenizer/encoding.hpp"
#include "tokenizer/section.hpp"

namespace mase::tokenizer {

/// Which text of a pair loses tokens.
enum class Shortens : std::uint8_t { longest, first, second };

struct Truncation {
  std::size_t most = 0;  ///< tokens, special ones included
  std::size_t stride = 0;
  Shortens shortens = Shortens::longest;
  bool from_left = false;

  /// Removes tokens of one text or two, and returns whether any was removed. Error(Fault::config)
  /// if a text would lose all.
  bool apply(std::vector<Encoding>& encodings, std::size_t special_tokens) const;
};

struct Padding {
  std::size_t length = 0;  ///< 0: only to a multiple
  std::size_t multiple = 1;
  TokenId id = 0;
  std::uint32_t type_id = 0;
  std::string text;
  bool to_left = false;

  void apply(Encoding& encoding) const;
};

std::optional<Truncation> read_truncation(const Section& file);
std::optional<Padding> read_padding(const Section& file);

}  // namespace mase::tokenizer
