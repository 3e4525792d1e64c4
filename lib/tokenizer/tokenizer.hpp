// SPDX-License-Identifier: Apache-2.0
// Tokenizers of Hugging Face's tokenizer.json: texts to ids of tokens and back.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/encoding.hpp"
#include "tokenizer/lengths.hpp"

namespace mase::tokenizer {

inline constexpr std::size_t largest_file = std::size_t{128} << 20;  ///< bytes of a tokenizer.json

/// A tokenizer gives the ids that the library `tokenizers` gives. It keeps the tokens of words that
/// it has met, so each thread needs one of its own. Texts are well-formed UTF-8, which is checked.
class Tokenizer {
 public:
  /// Reads a file. What it lacks, or what is unknown, is Error(Fault::file) with file and key.
  static Tokenizer read(const std::string& path);
  static Tokenizer parse(std::string_view json, const std::string& origin);
  Tokenizer(Tokenizer&&) noexcept;
  ~Tokenizer();

  Encoding encode(std::string_view text, bool add_special = true);
  Encoding encode_pair(std::string_view first, std::string_view second, bool add_special = true);
  /// From now on encodings have at most `most` tokens, special ones included, in place of what the
  /// file asks for: the longer text of a pair is cut first.
  void truncate(std::size_t most);
  /// From now on encodings are as long as their texts are.
  void stop_padding();

  std::optional<std::size_t> longest() const;      ///< to which it truncates
  std::optional<Padding> padding() const;          ///< with which it pads
  std::size_t special_tokens(bool is_pair) const;  ///< the number that it adds
  /// The id of a token by its text; nullopt if there is no such token.
  std::optional<TokenId> find(std::string_view token) const;
  std::size_t id_count() const;  ///< one more than the largest id

  /// The text of each token.
  std::vector<std::string> texts_of(const Encoding& encoding) const;
  std::string text_of(TokenId id) const;  ///< "" for an id that there is not
  /// The text of ids; ids that there are not give none.
  std::string decode(std::span<const TokenId> ids, bool skip_special = true) const;

 private:
  struct Parts;
  explicit Tokenizer(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

/// The path of tokenizer.json: `path` itself, or the file of that name in the folder `path`.
std::string tokenizer_file(const std::string& path);

}  // namespace mase::tokenizer
