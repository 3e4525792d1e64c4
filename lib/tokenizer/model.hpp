// SPDX-License-Identifier: Apache-2.0
// Models make tokens of words.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/section.hpp"
#include "tokenizer/vocabulary.hpp"

namespace mase::tokenizer {

/// The tokens of words, one after the other.
struct Tokens {
  std::vector<TokenId> ids;
  /// Texts of tokens that are not those of their ids, by their places in `ids`.
  std::vector<std::pair<std::size_t, std::string>> own_texts;
};

class Model {
 public:
  virtual ~Model() = default;
  /// Adds the tokens of a word, which is not empty.
  virtual void encode(std::string_view word, Tokens& tokens) = 0;
  const Vocabulary& vocabulary() const { return vocabulary_; }

 protected:
  Vocabulary vocabulary_;
};

/// Reads the section `model`; unknown kinds are errors that name the known ones.
std::unique_ptr<Model> read_model(const Section& section);

// The kinds, one in a file.
std::unique_ptr<Model> read_bpe(const Section& section);
std::unique_ptr<Model> read_unigram(const Section& section);
std::unique_ptr<Model> read_word_level(const Section& section);
std::unique_ptr<Model> read_word_piece(const Section& section);

}  // namespace mase::tokenizer
