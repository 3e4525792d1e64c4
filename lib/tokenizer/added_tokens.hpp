// SPDX-License-Identifier: Apache-2.0
// Tokens that were added to a model's vocabulary: they are found in a text before it is split.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tokenizer/byte_trie.hpp"
#include "tokenizer/normalizer.hpp"
#include "tokenizer/vocabulary.hpp"

namespace mase::tokenizer {

/// A part of a text: an added token, or text between two of them.
struct Found {
  TokenId token;  ///< no_token for text
  std::size_t begin, end;
};

class AddedTokens {
 public:
  /// Reads the list `added_tokens`. A token that the model's vocabulary has keeps its id there,
  /// and others get the ids behind it.
  AddedTokens(const Section& file, const Vocabulary& vocabulary, const Normalizer* normalizer);

  /// The parts of a text before it is normalized, and after.
  void find_in_text(std::string_view text, std::vector<Found>& parts) const {
    find(exact_, text, parts);
  }
  void find_in_normalized(std::string_view text, std::vector<Found>& parts) const {
    find(normalized_, text, parts);
  }

  /// What stands for a token in a normalized text; nullptr for a token of the model.
  const std::string* text_of(TokenId id) const;
  TokenId id_of(std::string_view text) const;  ///< no_token for a text that was not added
  bool is_special(std::string_view text) const;
  std::size_t id_count() const;  ///< one more than the largest id; 0 without added tokens

 private:
  struct Added {
    std::string content;
    std::string matched;  // what stands for it in a text, the normalized content
    bool single_word, left, right, normalized, special;
  };
  void find(const ByteTrie& trie, std::string_view text, std::vector<Found>& parts) const;
  void add_match(std::string_view text, Found match, std::vector<Found>& parts,
                 std::size_t& done) const;

  std::map<TokenId, Added> tokens_;
  std::map<std::string, TokenId, std::less<>> ids_;
  std::map<std::string, bool, std::less<>> special_;
  ByteTrie exact_, normalized_;
};

}  // namespace mase::tokenizer
