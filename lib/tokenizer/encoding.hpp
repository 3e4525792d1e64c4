// SPDX-License-Identifier: Apache-2.0
// What a text becomes: ids, and what models are fed beside them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tokenizer/model.hpp"

namespace mase::tokenizer {

/// The arrays have one value for each token.
struct Encoding {
  Tokens tokens;
  std::vector<std::uint32_t> type_ids;       ///< which text of a pair, as the file numbers them
  std::vector<std::uint8_t> attention_mask;  ///< 0 for padding
  bool is_cut = false;                       ///< truncation has removed tokens

  std::size_t size() const { return tokens.ids.size(); }
  void add(TokenId id, std::uint32_t type_id, const std::string* own_text);
  void append(const Encoding& other);
  /// Keeps `count` tokens from `begin`.
  void keep(std::size_t begin, std::size_t count);
};

}  // namespace mase::tokenizer
