// SPDX-License-Identifier: Apache-2.0
// Searches a text for added tokens: at each place the longest, from left to right.
#include "tokenizer/added_tokens.hpp"

#include "base/log.hpp"
#include "tokenizer/code_points.hpp"
#include "tokenizer/unicode.hpp"

namespace mase::tokenizer {
namespace {

constexpr std::size_t longest_added = 4096;

bool is_word_character(char32_t code) {
  if (code < 0x80) return is_identifier_char(static_cast<char>(code));
  return has(code, word);
}

/// Whether no letter or digit stands right before or after a part of a text.
bool is_single_word(std::string_view text, std::size_t begin, std::size_t end) {
  if (begin > 0 && is_word_character(code_point_before(text, begin))) return false;
  return end == text.size() || !is_word_character(next_code_point(text, end));
}

}  // namespace

AddedTokens::AddedTokens(const Section& file, const Vocabulary& vocabulary,
                         const Normalizer* normalizer) {
  if (!file.find("added_tokens")) return;
  auto next = static_cast<TokenId>(vocabulary.size());
  for (const Section& item : file.items("added_tokens")) {
    Added token{item.text("content"),
                "",
                item.boolean("single_word", false),
                item.boolean("lstrip", false),
                item.boolean("rstrip", false),
                item.boolean("normalized", true),
                item.boolean("special", false)};
    if (token.content.empty()) continue;
    if (token.content.size() > longest_added)
      item.fail("is longer than " + std::to_string(longest_added) + " bytes");
    TokenId id = id_of(token.content);
    if (id == no_token) id = vocabulary.find(token.content);
    if (id == no_token) id = next++;
    if (id != item.number("id"))
      log::warning(item.where() + ": " + quote(token.content) + " has the id " +
                   std::to_string(id) + ", not " + std::to_string(item.number("id")));
    Normalized text{token.content, "", true};
    if (token.normalized && normalizer) normalizer->apply(text);
    token.matched = text.text;
    ids_[token.content] = id;
    if (token.special) special_[token.content] = true;
    tokens_[id] = std::move(token);
  }
  for (const auto& [id, token] : tokens_)
    if (!token.matched.empty()) (token.normalized ? normalized_ : exact_).add(token.matched, id);
}

std::size_t AddedTokens::id_count() const {
  return tokens_.empty() ? 0 : std::size_t{tokens_.rbegin()->first} + 1;
}

const std::string* AddedTokens::text_of(TokenId id) const {
  const auto found = tokens_.find(id);
  return found == tokens_.end() ? nullptr : &found->second.matched;
}

TokenId AddedTokens::id_of(std::string_view text) const {
  const auto found = ids_.find(text);
  return found == ids_.end() ? no_token : found->second;
}

bool AddedTokens::is_special(std::string_view text) const {
  return special_.find(text) != special_.end();
}

void AddedTokens::add_match(std::string_view text, Found match, std::vector<Found>& parts,
                            std::size_t& done) const {
  const Added& token = tokens_.at(match.token);
  if (token.single_word && !is_single_word(text, match.begin, match.end)) return;
  if (token.left)
    while (match.begin > done && is_white_space(code_point_before(text, match.begin)))
      match.begin = previous_start(text, match.begin);
  if (token.right)
    for (std::size_t at = match.end; at < text.size() && is_white_space(next_code_point(text, at));)
      match.end = at;
  if (done < match.begin) parts.push_back({no_token, done, match.begin});
  parts.push_back(match);
  done = match.end;
}

void AddedTokens::find(const ByteTrie& trie, std::string_view text,
                       std::vector<Found>& parts) const {
  parts.clear();
  std::size_t done = 0;
  for (std::size_t at = 0; !trie.is_empty() && at < text.size();) {
    Found match{no_token, at, at};
    trie.prefixes(text, at, [&](std::size_t end, TokenId id) { match = {id, at, end}; });
    at = std::max(match.end, at + 1);
    if (match.token != no_token) add_match(text, match, parts, done);
  }
  if (done < text.size()) parts.push_back({no_token, done, text.size()});
}

}  // namespace mase::tokenizer
