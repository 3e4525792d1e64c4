// SPDX-License-Identifier: Apache-2.0
// Joins and cuts encodings.
#include "tokenizer/encoding.hpp"

namespace mase::tokenizer {

void Encoding::add(TokenId id, std::uint32_t type_id, const std::string* own_text) {
  if (own_text) tokens.own_texts.emplace_back(size(), *own_text);
  tokens.ids.push_back(id);
  type_ids.push_back(type_id);
  attention_mask.push_back(1);
}

void Encoding::append(const Encoding& other) {
  for (const auto& [place, text] : other.tokens.own_texts)
    tokens.own_texts.emplace_back(size() + place, text);
  const auto join = [](auto& all, const auto& more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  join(tokens.ids, other.tokens.ids);
  join(type_ids, other.type_ids);
  join(attention_mask, other.attention_mask);
}

void Encoding::keep(std::size_t begin, std::size_t count) {
  const auto cut = [&](auto& all) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(begin);
    all = {first, first + static_cast<std::ptrdiff_t>(count)};
  };
  cut(tokens.ids);
  cut(type_ids);
  cut(attention_mask);
  std::erase_if(tokens.own_texts,
                [&](const auto& own) { return own.first < begin || own.first >= begin + count; });
  for (auto& own : tokens.own_texts) own.first -= begin;
}

}  // namespace mase::tokenizer
