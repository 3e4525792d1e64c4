// SPDX-License-Identifier: Apache-2.0
// WordPiece: from the front of a word, the longest token that the vocabulary has.
#include "tokenizer/code_points.hpp"
#include "tokenizer/model.hpp"

namespace mase::tokenizer {
namespace {

class WordPiece : public Model {
 public:
  explicit WordPiece(const Section& section)
      : where_(section.where()),
        unknown_text_(section.text("unk_token", "[UNK]")),
        prefix_(section.text("continuing_subword_prefix", "##")),
        most_characters_(section.number("max_input_chars_per_word", 100)) {
    vocabulary_.add_all(section.at("vocab"));
    unknown_ = vocabulary_.find(unknown_text_);
  }

  void encode(std::string_view word, Tokens& tokens) override {
    const std::size_t before = tokens.ids.size();
    if (count_code_points(word) <= most_characters_ && encode_known(word, tokens.ids)) return;
    tokens.ids.resize(before);
    if (unknown_ == no_token)
      file_error(where_ + ".vocab has no " + quote(unknown_text_) + ", which the word " +
                 quote(word) + " needs; add it");
    tokens.ids.push_back(unknown_);
  }

 private:
  /// Returns false if a part of the word is not in the vocabulary.
  bool encode_known(std::string_view word, std::vector<TokenId>& ids) {
    for (std::size_t start = 0; start < word.size();) {
      candidate_.assign(start > 0 ? prefix_ : "");
      const std::size_t prefix = candidate_.size();
      candidate_ += word.substr(start, vocabulary_.longest());
      TokenId id = vocabulary_.find(candidate_);
      while (id == no_token) {
        candidate_.resize(previous_start(candidate_, candidate_.size()));
        if (candidate_.size() <= prefix) return false;
        id = vocabulary_.find(candidate_);
      }
      ids.push_back(id);
      start += candidate_.size() - prefix;
    }
    return true;
  }

  std::string where_, unknown_text_, prefix_;
  std::size_t most_characters_;
  TokenId unknown_ = no_token;
  std::string candidate_;
};

}  // namespace

std::unique_ptr<Model> read_word_piece(const Section& section) {
  return std::make_unique<WordPiece>(section);
}

}  // namespace mase::tokenizer
