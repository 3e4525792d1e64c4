// SPDX-License-Identifier: Apache-2.0
// The way of a text through the parts of a tokenizer.
#include "tokenizer/tokenizer.hpp"

#include <algorithm>
#include <filesystem>

#include "base/file.hpp"
#include "base/git_lfs.hpp"
#include "base/utf8.hpp"
#include "tokenizer/added_tokens.hpp"
#include "tokenizer/decoder.hpp"
#include "tokenizer/lengths.hpp"
#include "tokenizer/model.hpp"
#include "tokenizer/normalizer.hpp"
#include "tokenizer/post_processor.hpp"
#include "tokenizer/pre_tokenizer.hpp"
#include "tokenizer/unicode.hpp"
#include "tokenizer/word_cache.hpp"

namespace mase::tokenizer {
namespace {

constexpr std::size_t longest_text = std::size_t{64} << 20;

/// Reads a part if the file has it.
template <class Part>
std::unique_ptr<Part> read_part(const Section& file, std::string_view key,
                                std::unique_ptr<Part> (*read)(const Section&)) {
  const auto section = file.find(key);
  return section ? read(*section) : nullptr;
}

void check_text(std::string_view text) {
  if (text.size() > longest_text)
    config_error("a text of " + std::to_string(text.size()) + " bytes is too long; split it into " +
                 "texts of at most " + std::to_string(longest_text));
  if (is_ascii(text)) return;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    if (length == 0) config_error("a text is not UTF-8 at byte " + std::to_string(at));
    at += length;
  }
}

}  // namespace

struct Tokenizer::Parts {
  explicit Parts(const Section& file)
      : normalizer(read_part(file, "normalizer", read_normalizer)),
        pre_tokenizer(read_part(file, "pre_tokenizer", read_pre_tokenizer)),
        model(read_model(file.at("model"))),
        post_processor(read_part(file, "post_processor", read_post_processor)),
        decoder(read_part(file, "decoder", read_decoder)),
        added(file, model->vocabulary(), normalizer.get()),
        truncation(read_truncation(file)),
        padding(read_padding(file)) {}

  void normalize(std::string_view text, bool is_start);
  Encoding encode(std::string_view text, std::uint32_t type_id);
  std::size_t added_to(std::size_t texts) const;  ///< special tokens
  Encoding finish(std::vector<Encoding>& encodings, bool add_special) const;
  std::string text_of(TokenId id) const;

  std::unique_ptr<Normalizer> normalizer;
  std::unique_ptr<PreTokenizer> pre_tokenizer;
  std::unique_ptr<Model> model;
  std::unique_ptr<PostProcessor> post_processor;
  std::unique_ptr<Decoder> decoder;
  AddedTokens added;
  std::optional<Truncation> truncation;
  std::optional<Padding> padding;
  // Memory that is used again for every text.
  WordCache cache;
  Pieces pieces;
  Normalized normalized;
  std::vector<Found> in_text, in_normalized;
};

/// Adds the pieces of a text between two added tokens.
void Tokenizer::Parts::normalize(std::string_view text, bool is_start) {
  normalized.text.assign(text);
  normalized.keeps_start = is_start;
  if (normalizer) normalizer->apply(normalized);
  check_size(normalized.text);
  added.find_in_normalized(normalized.text, in_normalized);
  for (const Found& part : in_normalized)
    pieces.append(std::string_view(normalized.text).substr(part.begin, part.end - part.begin),
                  part.token, normalized.keeps_start && part.begin == 0);
  check_size(pieces.text);
}

Encoding Tokenizer::Parts::encode(std::string_view text, std::uint32_t type_id) {
  check_text(text);
  pieces.clear();
  added.find_in_text(text, in_text);
  for (const Found& part : in_text) {
    const std::string_view piece = text.substr(part.begin, part.end - part.begin);
    if (part.token == no_token)
      normalize(piece, part.begin == 0);
    else
      pieces.append(piece, part.token, false);
  }
  if (pre_tokenizer) pre_tokenizer->split(pieces);
  Encoding encoding;
  for (const Piece& piece : pieces.pieces) {
    const std::string_view word = pieces.text_of(piece);
    if (piece.token == no_token) {
      cache.encode(word, *model, encoding.tokens);
      continue;
    }
    if (text_of(piece.token) != word) encoding.tokens.own_texts.emplace_back(encoding.size(), word);
    encoding.tokens.ids.push_back(piece.token);
  }
  encoding.type_ids.assign(encoding.size(), type_id);
  encoding.attention_mask.assign(encoding.size(), 1);
  return encoding;
}

std::size_t Tokenizer::Parts::added_to(std::size_t texts) const {
  return post_processor ? post_processor->added(texts > 1) : 0;
}

/// Truncates, adds special tokens, joins and pads.
Encoding Tokenizer::Parts::finish(std::vector<Encoding>& encodings, bool add_special) const {
  Encoding result;
  if (truncation)
    result.is_cut = truncation->apply(encodings, add_special ? added_to(encodings.size()) : 0);
  if (post_processor) post_processor->apply(encodings, add_special);
  for (const Encoding& encoding : encodings) result.append(encoding);
  if (padding) padding->apply(result);
  return result;
}

std::string Tokenizer::Parts::text_of(TokenId id) const {
  if (const std::string* text = added.text_of(id)) return *text;
  return std::string(model->vocabulary().text_of(id).value_or(""));
}

Tokenizer::Tokenizer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

Tokenizer Tokenizer::read(const std::string& path) {
  const std::string json = read_file(path, largest_file);
  refuse_lfs_pointer(json, path);
  return parse(json, path);
}

Tokenizer Tokenizer::parse(std::string_view json, const std::string& origin) {
  const Tree tree = parse_json(json, origin);
  return Tokenizer(std::make_unique<Parts>(Section::of_file(tree, origin)));
}

Encoding Tokenizer::encode(std::string_view text, bool add_special) {
  std::vector<Encoding> encodings;
  encodings.push_back(parts_->encode(text, 0));
  return parts_->finish(encodings, add_special);
}

Encoding Tokenizer::encode_pair(std::string_view first, std::string_view second, bool add_special) {
  std::vector<Encoding> encodings;
  encodings.push_back(parts_->encode(first, 0));
  encodings.push_back(parts_->encode(second, 1));
  return parts_->finish(encodings, add_special);
}

void Tokenizer::truncate(std::size_t most) {
  Truncation truncation;
  truncation.most = most;
  truncation.from_left = parts_->truncation && parts_->truncation->from_left;
  parts_->truncation = truncation;
}

void Tokenizer::stop_padding() { parts_->padding.reset(); }

std::optional<std::size_t> Tokenizer::longest() const {
  return parts_->truncation ? std::optional(parts_->truncation->most) : std::nullopt;
}

std::optional<Padding> Tokenizer::padding() const { return parts_->padding; }

std::size_t Tokenizer::special_tokens(bool is_pair) const {
  return parts_->added_to(is_pair ? 2 : 1);
}

std::optional<TokenId> Tokenizer::find(std::string_view token) const {
  TokenId id = parts_->added.id_of(token);
  if (id == no_token) id = parts_->model->vocabulary().find(token);
  return id == no_token ? std::nullopt : std::optional(id);
}

std::size_t Tokenizer::id_count() const {
  return std::max(parts_->model->vocabulary().id_count(), parts_->added.id_count());
}

std::string Tokenizer::text_of(TokenId id) const { return parts_->text_of(id); }

std::vector<std::string> Tokenizer::texts_of(const Encoding& encoding) const {
  std::vector<std::string> texts;
  for (const TokenId id : encoding.tokens.ids) texts.push_back(parts_->text_of(id));
  for (const auto& [place, text] : encoding.tokens.own_texts) texts[place] = text;
  return texts;
}

std::string Tokenizer::decode(std::span<const TokenId> ids, bool skip_special) const {
  std::vector<std::string> texts;
  for (const TokenId id : ids) {
    if (!parts_->added.text_of(id) && !parts_->model->vocabulary().text_of(id)) continue;
    std::string text = parts_->text_of(id);
    if (!skip_special || !parts_->added.is_special(text)) texts.push_back(std::move(text));
  }
  if (!parts_->decoder) return join(texts, " ");
  parts_->decoder->apply(texts);
  return join(texts, "");
}

std::string tokenizer_file(const std::string& path) {
  return std::filesystem::is_directory(path) ? path + "/tokenizer.json" : path;
}

}  // namespace mase::tokenizer
