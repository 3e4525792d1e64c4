// SPDX-License-Identifier: Apache-2.0
// The tokens of a model by their texts and by their ids.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tokenizer/section.hpp"

namespace mase::tokenizer {

using TokenId = std::uint32_t;
inline constexpr TokenId no_token = UINT32_MAX;

/// A hash of a text's bytes, for tables in memory.
std::uint64_t hash_of(std::string_view text);

/// Texts with ids, in one block of memory. The last id of a text that is added twice counts.
class Vocabulary {
 public:
  void add(std::string_view text, TokenId id);
  /// Adds {"text": id} of a section.
  void add_all(const Section& section);

  TokenId find(std::string_view text) const;  ///< no_token when it is absent
  /// The text of an id; nullopt when there is none.
  std::optional<std::string_view> text_of(TokenId id) const;
  std::size_t size() const { return entries_.size(); }
  std::size_t id_count() const;                     ///< one more than the largest id
  std::size_t longest() const { return longest_; }  ///< bytes of the longest text

 private:
  struct Entry {
    std::uint64_t begin;
    std::uint32_t size;
    TokenId id;
  };
  std::string_view text(const Entry& entry) const {
    return std::string_view(bytes_).substr(entry.begin, entry.size);
  }
  std::size_t slot_of(std::string_view text) const;
  void grow();

  std::string bytes_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> slots_;  // index of an entry + 1, or 0; a power of two of them
  mutable std::vector<std::pair<TokenId, std::uint32_t>> by_id_;  // sorted, made when first asked
  std::size_t longest_ = 0;
};

}  // namespace mase::tokenizer
