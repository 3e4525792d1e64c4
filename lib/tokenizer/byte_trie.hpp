// SPDX-License-Identifier: Apache-2.0
// A trie over bytes: which of many texts begin at a place of another text.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace mase::tokenizer {

class ByteTrie {
 public:
  void add(std::string_view text, std::uint32_t value);
  bool is_empty() const { return values_.size() == 1; }

  /// Calls found(end, value) for every text that begins at `at`, the shortest first.
  template <class Found>
  void prefixes(std::string_view text, std::size_t at, Found found) const {
    if (at >= text.size()) return;
    std::uint32_t node = first_[static_cast<unsigned char>(text[at++])];
    while (node != 0) {
      if (values_[node] != none) found(at, values_[node]);
      if (at >= text.size()) return;
      node = child(node, static_cast<unsigned char>(text[at++]));
    }
  }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;
  struct Edge {
    std::uint64_t key = 0;  // parent * 256 + byte + 1, or 0
    std::uint32_t child = 0;
  };
  std::uint32_t child(std::uint32_t parent, unsigned char byte) const {
    return edges_[slot_of((std::uint64_t{parent} << 8 | byte) + 1)].child;
  }
  std::size_t slot_of(std::uint64_t key) const;
  void grow();

  std::array<std::uint32_t, 256> first_{};   // the root's children
  std::vector<std::uint32_t> values_{none};  // one for each node; the root is node 0
  std::vector<Edge> edges_;                  // open addressing; a power of two of them
};

}  // namespace mase::tokenizer
