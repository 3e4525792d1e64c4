// SPDX-License-Identifier: Apache-2.0
// BPE: the characters of a word, and then the merges of neighbours, those of the lowest rank first.
// A heap holds the merges that are possible, so that long words take n log n steps.
#include <algorithm>

#include "tokenizer/byte_tokens.hpp"
#include "tokenizer/code_points.hpp"
#include "tokenizer/model.hpp"

namespace mase::tokenizer {
namespace {

struct MergeRule {
  std::uint32_t rank = 0;
  TokenId result = no_token;
};

/// The merges of pairs of tokens: a hash table with open addressing.
class MergeTable {
 public:
  explicit MergeTable(std::size_t count) {
    std::size_t slots = 64;
    while (slots < count * 2) slots *= 2;
    entries_.resize(slots);
  }
  void set(TokenId left, TokenId right, MergeRule rule) {
    Entry& entry = entries_[slot_of(key_of(left, right))];
    entry = {key_of(left, right), rule};
  }
  /// `result` is no_token for a pair that is not merged.
  MergeRule find(TokenId left, TokenId right) const {
    return entries_[slot_of(key_of(left, right))].rule;
  }

 private:
  struct Entry {
    std::uint64_t key = 0;
    MergeRule rule;
  };
  static std::uint64_t key_of(TokenId left, TokenId right) {
    return (std::uint64_t{left} << 32 | right) + 1;
  }
  std::size_t slot_of(std::uint64_t key) const {
    const std::size_t mask = entries_.size() - 1;
    const std::uint64_t hash = key * 0x9E3779B97F4A7C15u;
    std::size_t slot = (hash ^ hash >> 32) & mask;
    while (entries_[slot].key != 0 && entries_[slot].key != key) slot = (slot + 1) & mask;
    return slot;
  }
  std::vector<Entry> entries_;
};

class Bpe : public Model {
 public:
  explicit Bpe(const Section& section)
      : where_(section.where()),
        prefix_(section.text("continuing_subword_prefix", "")),
        suffix_(section.text("end_of_word_suffix", "")),
        fuse_unknown_(section.boolean("fuse_unk", false)),
        byte_fallback_(section.boolean("byte_fallback", false)),
        ignore_merges_(section.boolean("ignore_merges", false)),
        merges_(section.at("merges").as_list().size()) {
    refuse_dropout(section);
    vocabulary_.add_all(section.at("vocab"));
    read_merges(section);
    unknown_text_ = section.text("unk_token", "");
    if (section.find("unk_token")) unknown_ = vocabulary_.find(unknown_text_);
    bytes_ = byte_tokens(vocabulary_);
  }

  void encode(std::string_view word, Tokens& tokens) override {
    if (ignore_merges_) {
      const TokenId id = vocabulary_.find(word);
      if (id != no_token) return tokens.ids.push_back(id);
    }
    start(word);
    merge();
    for (const Symbol& symbol : symbols_)
      if (symbol.size != 0) tokens.ids.push_back(symbol.id);
  }

 private:
  struct Symbol {
    TokenId id;
    std::uint32_t size;  // bytes of the word; 0 once it was merged into the one before
    std::int32_t previous, next;
  };
  struct Candidate {
    std::uint32_t rank;
    std::uint32_t place;
    TokenId result;
    bool operator<(const Candidate& other) const {  // the heap's top is the lowest rank
      return rank != other.rank ? rank > other.rank : place > other.place;
    }
  };

  static void refuse_dropout(const Section& section) {
    const auto dropout = section.find("dropout");
    if (dropout && dropout->as_double() != 0)
      dropout->fail("is for training and makes ids random; set it to null");
  }

  TokenId token_of_merge(const std::string& text, const Section& merge) const {
    const TokenId id = vocabulary_.find(text);
    if (id == no_token) merge.fail(quote(text) + " is not in the vocabulary");
    return id;
  }

  /// A merge is "left right", or ["left", "right"].
  void read_merges(const Section& section) {
    std::uint32_t rank = 0;
    const std::string where = section.at("merges").where();
    for (const Tree& item : section.at("merges").as_list()) {
      const Section merge(item, where + "[" + std::to_string(rank) + "]");
      std::string left, right;
      if (item.is_list() && item.size() == 2) {
        left = Section(item.as_list()[0], merge.where()).as_text();
        right = Section(item.as_list()[1], merge.where()).as_text();
      } else {
        const std::vector<std::string> parts = split(merge.as_text(), ' ');
        if (parts.size() != 2) merge.fail("must be two texts with a space between");
        left = parts[0];
        right = parts[1];
      }
      const TokenId first = token_of_merge(left, merge), second = token_of_merge(right, merge);
      if (!right.starts_with(prefix_) && right.size() < prefix_.size())
        merge.fail(quote(right) + " is shorter than continuing_subword_prefix");
      const TokenId result = token_of_merge(left + right.substr(prefix_.size()), merge);
      merges_.set(first, second, {rank++, result});
    }
  }

  void add(TokenId id, std::size_t size) {
    const auto place = static_cast<std::int32_t>(symbols_.size());
    if (place > 0) symbols_.back().next = place;
    symbols_.push_back({id, static_cast<std::uint32_t>(size), place - 1, -1});
  }

  /// The token of a character of a word, with what stands before or behind it.
  TokenId character_token(std::string_view word, std::size_t begin, std::size_t end,
                          std::string_view& text) {
    text = word.substr(begin, end - begin);
    const bool has_prefix = begin > 0 && !prefix_.empty();
    const bool has_suffix = end == word.size() && !suffix_.empty();
    if (has_prefix || has_suffix) {
      character_.assign(has_prefix ? prefix_ : "").append(text);
      if (has_suffix) character_ += suffix_;
      text = character_;
    }
    return vocabulary_.find(text);
  }

  bool add_bytes(std::string_view text) {
    for (const char c : text)
      if (bytes_[static_cast<unsigned char>(c)] == no_token) return false;
    for (const char c : text) add(bytes_[static_cast<unsigned char>(c)], 1);
    return true;
  }

  /// Symbols for the characters of a word. Bytes come at once, and unknown characters before the
  /// next known one, as in the package `tokenizers`.
  void start(std::string_view word) {
    symbols_.clear();
    std::size_t unknown_size = 0;
    const auto flush = [&] {
      if (unknown_size > 0) add(unknown_, unknown_size);
      unknown_size = 0;
    };
    for (std::size_t at = 0; at < word.size();) {
      const std::size_t begin = at;
      next_code_point(word, at);
      std::string_view text;
      const TokenId id = character_token(word, begin, at, text);
      if (id != no_token) {
        flush();
        add(id, at - begin);
      } else if (!(byte_fallback_ && add_bytes(text)) && !unknown_text_.empty()) {
        if (unknown_ == no_token)
          file_error(where_ + ".vocab has no " + quote(unknown_text_) + ", which the word " +
                     quote(word) + " needs; add it");
        if (!fuse_unknown_) flush();
        unknown_size += at - begin;
      }
    }
    flush();
  }

  void consider(std::int32_t place) {
    if (place < 0) return;
    const Symbol& left = symbols_[static_cast<std::size_t>(place)];
    if (left.next < 0) return;
    const MergeRule rule = merges_.find(left.id, symbols_[static_cast<std::size_t>(left.next)].id);
    if (rule.result == no_token) return;
    heap_.push_back({rule.rank, static_cast<std::uint32_t>(place), rule.result});
    if (is_heap_) std::push_heap(heap_.begin(), heap_.end());
  }

  void merge() {
    heap_.clear();
    is_heap_ = false;
    for (std::size_t i = 0; i + 1 < symbols_.size(); ++i) consider(static_cast<std::int32_t>(i));
    std::make_heap(heap_.begin(), heap_.end());
    is_heap_ = true;
    while (!heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end());
      const Candidate top = heap_.back();
      heap_.pop_back();
      apply(top);
    }
  }

  /// Merges a symbol with the next one, unless one of them has changed since.
  void apply(const Candidate& candidate) {
    Symbol& left = symbols_[candidate.place];
    if (left.size == 0 || left.next < 0) return;
    Symbol& right = symbols_[static_cast<std::size_t>(left.next)];
    if (merges_.find(left.id, right.id).result != candidate.result) return;
    left.id = candidate.result;
    left.size += right.size;
    left.next = right.next;
    right.size = 0;
    if (left.next >= 0)
      symbols_[static_cast<std::size_t>(left.next)].previous =
          static_cast<std::int32_t>(candidate.place);
    consider(left.previous);
    consider(static_cast<std::int32_t>(candidate.place));
  }

  std::string where_, unknown_text_, prefix_, suffix_;
  bool fuse_unknown_, byte_fallback_, ignore_merges_;
  MergeTable merges_;
  TokenId unknown_ = no_token;
  ByteTokens bytes_{};
  std::vector<Symbol> symbols_;
  std::vector<Candidate> heap_;
  bool is_heap_ = false;
  std::string character_;
};

}  // namespace

std::unique_ptr<Model> read_bpe(const Section& section) { return std::make_unique<Bpe>(section); }

}  // namespace mase::tokenizer
