// SPDX-License-Identifier: Apache-2.0
// A hash table with open addressing, whose texts lie one after the other.
#include "tokenizer/vocabulary.hpp"

#include <algorithm>
#include <cstring>

namespace mase::tokenizer {

std::uint64_t hash_of(std::string_view text) {
  constexpr std::uint64_t factor = 0x9E3779B97F4A7C15u;
  std::uint64_t hash = text.size() * factor;
  const auto mix = [&](std::uint64_t word) {
    hash = (hash ^ word) * factor;
    hash ^= hash >> 29;
  };
  std::size_t at = 0;
  std::uint64_t word = 0;
  for (; at + 8 <= text.size(); at += 8) {
    std::memcpy(&word, text.data() + at, 8);
    mix(word);
  }
  word = 0;
  std::memcpy(&word, text.data() + at, text.size() - at);
  mix(word);
  return hash ^ hash >> 32;
}

std::size_t Vocabulary::slot_of(std::string_view wanted) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash_of(wanted) & mask;
  while (slots_[slot] != 0 && text(entries_[slots_[slot] - 1]) != wanted) slot = (slot + 1) & mask;
  return slot;
}

void Vocabulary::grow() {
  slots_.assign(std::max<std::size_t>(64, slots_.size() * 2), 0);
  for (std::size_t i = 0; i < entries_.size(); ++i)
    slots_[slot_of(text(entries_[i]))] = static_cast<std::uint32_t>(i + 1);
}

void Vocabulary::add(std::string_view text, TokenId id) {
  if (entries_.size() * 2 >= slots_.size()) grow();
  by_id_.clear();
  std::uint32_t& slot = slots_[slot_of(text)];
  if (slot != 0) {
    entries_[slot - 1].id = id;
    return;
  }
  entries_.push_back({bytes_.size(), static_cast<std::uint32_t>(text.size()), id});
  bytes_ += text;
  longest_ = std::max(longest_, text.size());
  slot = static_cast<std::uint32_t>(entries_.size());
}

void Vocabulary::add_all(const Section& section) {
  for (const auto& [text, id] : section.as_dict()) {
    if (!id.is_int() || id.as_int() < 0 || id.as_int() > INT32_MAX)
      section.fail("the id of " + quote(text) + " must be a number from 0 to 2147483647");
    add(text, static_cast<TokenId>(id.as_int()));
  }
}

TokenId Vocabulary::find(std::string_view text) const {
  if (slots_.empty() || text.size() > longest_) return no_token;
  const std::uint32_t entry = slots_[slot_of(text)];
  return entry == 0 ? no_token : entries_[entry - 1].id;
}

std::size_t Vocabulary::id_count() const {
  std::size_t count = 0;
  for (const Entry& entry : entries_) count = std::max(count, std::size_t{entry.id} + 1);
  return count;
}

std::optional<std::string_view> Vocabulary::text_of(TokenId id) const {
  if (by_id_.empty()) {
    for (std::size_t i = 0; i < entries_.size(); ++i)
      by_id_.emplace_back(entries_[i].id, static_cast<std::uint32_t>(i));
    std::sort(by_id_.begin(), by_id_.end());
  }
  const auto found = std::lower_bound(by_id_.begin(), by_id_.end(), std::pair(id, 0u));
  if (found == by_id_.end() || found->first != id) return std::nullopt;
  return text(entries_[found->second]);
}

}  // namespace mase::tokenizer
