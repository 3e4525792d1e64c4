// SPDX-License-Identifier: Apache-2.0
// The tokens of words that were met before.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/model.hpp"

namespace mase::tokenizer {

/// Asks the model for each word once. The memory is bounded: when it is full, the cache begins
/// anew.
class WordCache {
 public:
  void encode(std::string_view word, Model& model, Tokens& tokens) {
    if (word.size() > longest) return model.encode(word, tokens);
    const std::uint64_t hash = hash_of(word);
    if (const Entry* entry = find(hash, word)) {
      const auto first = ids_.begin() + entry->first_id;
      tokens.ids.insert(tokens.ids.end(), first, first + entry->ids);
      return;
    }
    const std::size_t before = tokens.ids.size(), own = tokens.own_texts.size();
    model.encode(word, tokens);
    if (tokens.own_texts.size() == own) add(hash, word, tokens.ids, before);
  }

 private:
  static constexpr std::size_t longest = 128, slots = 1 << 17, most = slots / 2;
  struct Entry {
    std::uint64_t hash = 0;
    std::uint32_t begin = 0, first_id = 0;
    std::uint16_t size = 0, ids = 0;  // size 0: free
  };

  const Entry* find(std::uint64_t hash, std::string_view word) const {
    if (entries_.empty()) return nullptr;
    for (std::size_t slot = hash % slots;; slot = (slot + 1) % slots) {
      const Entry& entry = entries_[slot];
      if (entry.size == 0) return nullptr;
      if (entry.hash == hash && std::string_view(words_).substr(entry.begin, entry.size) == word)
        return &entry;
    }
  }

  void add(std::uint64_t hash, std::string_view word, const std::vector<TokenId>& ids,
           std::size_t from) {
    if (count_ == most || entries_.empty()) {
      entries_.assign(slots, {});
      words_.clear();
      ids_.clear();
      count_ = 0;
    }
    if (ids.size() - from > UINT16_MAX) return;
    std::size_t slot = hash % slots;
    while (entries_[slot].size != 0) slot = (slot + 1) % slots;
    entries_[slot] = {
        hash, static_cast<std::uint32_t>(words_.size()), static_cast<std::uint32_t>(ids_.size()),
        static_cast<std::uint16_t>(word.size()), static_cast<std::uint16_t>(ids.size() - from)};
    words_ += word;
    ids_.insert(ids_.end(), ids.begin() + static_cast<std::ptrdiff_t>(from), ids.end());
    ++count_;
  }

  std::vector<Entry> entries_;
  std::string words_;
  std::vector<TokenId> ids_;
  std::size_t count_ = 0;
};

}  // namespace mase::tokenizer
