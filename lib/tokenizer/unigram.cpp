// SPDX-License-Identifier: Apache-2.0
// Unigram: the tokens of a word whose scores have the largest sum, found from left to right.
#include <algorithm>
#include <limits>

#include "tokenizer/byte_tokens.hpp"
#include "tokenizer/byte_trie.hpp"
#include "tokenizer/code_points.hpp"
#include "tokenizer/model.hpp"

namespace mase::tokenizer {
namespace {

constexpr double unknown_penalty = 10.0;

class Unigram : public Model {
 public:
  explicit Unigram(const Section& section)
      : where_(section.where()), byte_fallback_(section.boolean("byte_fallback", false)) {
    read_vocabulary(section.at("vocab"));
    if (const auto unknown = section.find("unk_id")) {
      unknown_ = unknown->as_number();
      if (unknown_ >= scores_.size()) unknown->fail("is not the place of a token in vocab");
    }
    bytes_ = byte_tokens(vocabulary_);
  }

  void encode(std::string_view word, Tokens& tokens) override {
    search(word);
    ends_.clear();
    for (std::size_t end = word.size(); end > 0; end = best_[end].start) ends_.push_back(end);
    std::reverse(ends_.begin(), ends_.end());
    std::size_t begin = 0;
    for (std::size_t i = 0; i < ends_.size(); ++i) {
      if (best_[ends_[i]].id == unknown_ && i + 1 < ends_.size() &&
          best_[ends_[i + 1]].id == unknown_)
        continue;  // unknown characters side by side are one token
      add(word.substr(begin, ends_[i] - begin), best_[ends_[i]].id, tokens);
      begin = ends_[i];
    }
  }

 private:
  struct Best {
    double score = 0;
    std::size_t start = SIZE_MAX;
    TokenId id = no_token;
  };

  void read_vocabulary(const Section& section) {
    for (const Tree& item : section.as_list()) {
      const auto id = static_cast<TokenId>(scores_.size());
      if (!item.is_list() || item.size() != 2 || !item.as_list()[0].is_string() ||
          !item.as_list()[1].is_number())
        section.fail("entry " + std::to_string(id) + " must be [text, score]");
      const std::string& text = item.as_list()[0].as_string();
      scores_.push_back(item.as_list()[1].as_double());
      lowest_ = std::min(lowest_, scores_.back());
      vocabulary_.add(text, id);
      if (!text.empty()) trie_.add(text, id);
    }
  }

  /// The best tokens that end at each byte.
  void search(std::string_view word) {
    best_.assign(word.size() + 1, {});
    const auto offer = [&](std::size_t start, std::size_t end, TokenId id, double score) {
      Best& best = best_[end];
      const double sum = score + best_[start].score;
      if (best.start == SIZE_MAX || sum > best.score) best = {sum, start, id};
    };
    for (std::size_t at = 0; at < word.size();) {
      const std::size_t start = at;
      next_code_point(word, at);
      bool has_character = false;
      trie_.prefixes(word, start, [&](std::size_t end, TokenId id) {
        offer(start, end, id, scores_[id]);
        has_character |= end == at;
      });
      if (has_character) continue;
      if (unknown_ == no_token)
        file_error(where_ + " has no unk_id, which the word " + quote(word) + " needs; add it");
      offer(start, at, unknown_, lowest_ - unknown_penalty);
    }
  }

  void add(std::string_view text, TokenId id, Tokens& tokens) const {
    if (id == unknown_) id = vocabulary_.find(text);
    if (id != no_token) return tokens.ids.push_back(id);
    const auto has_byte = [&](char c) { return bytes_[static_cast<unsigned char>(c)] != no_token; };
    if (byte_fallback_ && std::all_of(text.begin(), text.end(), has_byte)) {
      for (const char c : text) tokens.ids.push_back(bytes_[static_cast<unsigned char>(c)]);
      return;
    }
    tokens.own_texts.emplace_back(tokens.ids.size(), text);
    tokens.ids.push_back(unknown_);
  }

  std::string where_;
  bool byte_fallback_;
  TokenId unknown_ = no_token;
  double lowest_ = std::numeric_limits<double>::infinity();
  std::vector<double> scores_;
  ByteTrie trie_;
  ByteTokens bytes_{};
  std::vector<Best> best_;
  std::vector<std::size_t> ends_;
};

}  // namespace

std::unique_ptr<Model> read_unigram(const Section& section) {
  return std::make_unique<Unigram>(section);
}

}  // namespace mase::tokenizer
