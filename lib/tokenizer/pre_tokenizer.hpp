// SPDX-License-Identifier: Apache-2.0
// Pre-tokenizers split a text into the words that a model makes tokens of.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/normalizer.hpp"
#include "tokenizer/section.hpp"
#include "tokenizer/vocabulary.hpp"

namespace mase::tokenizer {

/// A part of a text: a word, or an added token, which is not split any further.
struct Piece {
  std::uint32_t begin = 0, end = 0;
  TokenId token = no_token;
  bool is_start = false;  ///< the user's text begins here
};

/// A text in pieces. The memory is used again for the next text.
class Pieces {
 public:
  std::string text;
  std::vector<Piece> pieces;

  std::string_view text_of(const Piece& piece) const {
    return std::string_view(text).substr(piece.begin, piece.end - piece.begin);
  }
  void clear();
  void append(std::string_view part, TokenId token, bool is_start);

  /// Replaces every piece but added tokens by those that split(piece) adds with `add`.
  template <class Split>
  void split(Split split) {
    next_.clear();
    for (const Piece& piece : pieces)
      if (piece.token != no_token)
        next_.push_back(piece);
      else
        split(piece);
    pieces.swap(next_);
  }
  void add(const Piece& of, std::size_t begin, std::size_t end) {
    if (begin < end)
      next_.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end), no_token,
                       of.is_start && begin == of.begin});
  }

  /// Writes the text anew: write(piece) appends what takes the piece's place to next_text(), and
  /// calls add_written for every word of it.
  template <class Write>
  void rewrite(Write write) {
    next_.clear();
    next_text_.clear();
    for (const Piece& piece : pieces) {
      if (piece.token == no_token) {
        write(piece);
        check_size(next_text_);
        continue;
      }
      const std::size_t begin = next_text_.size();
      next_text_ += text_of(piece);
      next_.push_back({static_cast<std::uint32_t>(begin),
                       static_cast<std::uint32_t>(next_text_.size()), piece.token, false});
    }
    pieces.swap(next_);
    text.swap(next_text_);
  }
  std::string& next_text() { return next_text_; }
  void add_written(std::size_t begin, bool is_start) {
    if (begin < next_text_.size())
      next_.push_back({static_cast<std::uint32_t>(begin),
                       static_cast<std::uint32_t>(next_text_.size()), no_token, is_start});
  }

 private:
  std::vector<Piece> next_;
  std::string next_text_;
};

class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  virtual void split(Pieces& pieces) const = 0;
};

/// Reads the section `pre_tokenizer`; unknown kinds are errors that name the known ones.
std::unique_ptr<PreTokenizer> read_pre_tokenizer(const Section& section);

// The kinds with patterns.
std::unique_ptr<PreTokenizer> read_byte_level(const Section& section);
std::unique_ptr<PreTokenizer> read_metaspace(const Section& section);
std::unique_ptr<PreTokenizer> read_split(const Section& section);

}  // namespace mase::tokenizer
