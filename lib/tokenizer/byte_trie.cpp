// SPDX-License-Identifier: Apache-2.0
// The edges of the trie are in one hash table.
#include "tokenizer/byte_trie.hpp"

#include <algorithm>

namespace mase::tokenizer {

std::size_t ByteTrie::slot_of(std::uint64_t key) const {
  const std::size_t mask = edges_.size() - 1;
  std::uint64_t hash = key * 0x9E3779B97F4A7C15u;
  std::size_t slot = (hash ^ hash >> 32) & mask;
  while (edges_[slot].key != 0 && edges_[slot].key != key) slot = (slot + 1) & mask;
  return slot;
}

void ByteTrie::grow() {
  std::vector<Edge> old(std::max<std::size_t>(64, edges_.size() * 2));
  old.swap(edges_);
  for (const Edge& edge : old)
    if (edge.key != 0) edges_[slot_of(edge.key)] = edge;
}

void ByteTrie::add(std::string_view text, std::uint32_t value) {
  std::uint32_t node = 0;
  for (const char c : text) {
    if (values_.size() * 2 >= edges_.size()) grow();
    const std::uint64_t key = (std::uint64_t{node} << 8 | static_cast<unsigned char>(c)) + 1;
    Edge& edge = edges_[slot_of(key)];
    if (edge.key == 0) {
      edge = {key, static_cast<std::uint32_t>(values_.size())};
      if (node == 0) first_[static_cast<unsigned char>(c)] = edge.child;
      values_.push_back(none);
    }
    node = edge.child;
  }
  values_[node] = value;
}

}  // namespace mase::tokenizer
