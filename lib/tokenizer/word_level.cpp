// SPDX-License-Identifier: Apache-2.0
// WordLevel: a token for each word of the vocabulary.
#include "tokenizer/model.hpp"

namespace mase::tokenizer {
namespace {

class WordLevel : public Model {
 public:
  explicit WordLevel(const Section& section)
      : where_(section.where()), unknown_text_(section.text("unk_token", "<unk>")) {
    vocabulary_.add_all(section.at("vocab"));
    unknown_ = vocabulary_.find(unknown_text_);
  }

  void encode(std::string_view word, Tokens& tokens) override {
    TokenId id = vocabulary_.find(word);
    if (id == no_token) id = unknown_;
    if (id == no_token)
      file_error(where_ + ".vocab has no " + quote(unknown_text_) + ", which the word " +
                 quote(word) + " needs; add it");
    tokens.ids.push_back(id);
  }

 private:
  std::string where_, unknown_text_;
  TokenId unknown_ = no_token;
};

}  // namespace

std::unique_ptr<Model> read_word_level(const Section& section) {
  return std::make_unique<WordLevel>(section);
}

}  // namespace mase::tokenizer
