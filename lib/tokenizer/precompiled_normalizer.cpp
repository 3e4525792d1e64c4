// SPDX-License-Identifier: Apache-2.0
// Precompiled: the table of SentencePiece that says which characters become which. It is a trie of
// bytes in one array (Darts) and the texts that its leaves point into, in base64.
#include <cstring>

#include "tokenizer/code_points.hpp"
#include "tokenizer/normalizer.hpp"
#include "tokenizer/unicode.hpp"

namespace mase::tokenizer {
namespace {

/// Bytes of base64; nullopt for other characters.
std::optional<std::string> decode_base64(std::string_view text) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const std::size_t digit = digits.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xFF);
  }
  return bytes;
}

/// A cell of the trie's array.
class Unit {
 public:
  explicit Unit(std::uint32_t bits) : bits_(bits) {}
  bool has_leaf() const { return (bits_ >> 8 & 1) != 0; }
  std::uint32_t value() const { return bits_ & 0x7FFFFFFF; }
  std::uint32_t label() const { return bits_ & 0x800000FF; }
  std::size_t offset() const { return std::size_t{bits_ >> 10} << ((bits_ & 0x200) >> 6); }

 private:
  std::uint32_t bits_;
};

class Precompiled : public Normalizer {
 public:
  explicit Precompiled(const Section& section) {
    const Section map = section.at("precompiled_charsmap");
    const auto bytes = decode_base64(map.as_text());
    if (!bytes) map.fail("is not base64");
    std::uint32_t size = 0;
    if (bytes->size() >= 4) std::memcpy(&size, bytes->data(), 4);
    if (size == 0 || size % 4 != 0 || size > bytes->size() - 4)
      map.fail("is damaged: its trie does not fit");
    trie_.resize(size / 4);
    std::memcpy(trie_.data(), bytes->data() + 4, size);
    texts_ = bytes->substr(4 + size);
  }

  /// Whole grapheme clusters of less than 6 bytes are looked up first, and then code points.
  void apply(Normalized& text) const override {
    std::vector<std::size_t> ends;
    if (!is_ascii(text.text)) {
      unicode_library().graphemes(text.text, ends);
    } else {
      for (std::size_t end = 0; end < text.text.size();)  // only CR LF is one cluster of two
        ends.push_back(end += text.text.compare(end, 2, "\r\n") == 0 ? 2 : 1);
    }
    text.spare.clear();
    std::size_t begin = 0;
    for (const std::size_t end : ends) {
      rewrite_cluster(std::string_view(text.text).substr(begin, end - begin), text.spare);
      if (begin == 0 && text.spare.empty()) text.keeps_start = false;
      begin = end;
    }
    text.text.swap(text.spare);
  }

 private:
  void rewrite_cluster(std::string_view cluster, std::string& result) const {
    if (cluster.size() < 6)
      if (const auto changed = find(cluster)) {
        result += *changed;
        return;
      }
    for (std::size_t at = 0; at < cluster.size();) {
      const std::size_t start = at;
      next_code_point(cluster, at);
      const std::string_view character = cluster.substr(start, at - start);
      result += find(character).value_or(character);
    }
  }

  /// The text of the shortest key that begins the given text.
  std::optional<std::string_view> find(std::string_view text) const {
    std::size_t node = Unit(trie_[0]).offset();
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      node ^= byte;
      if (byte == 0 || node >= trie_.size()) return std::nullopt;
      const Unit unit(trie_[node]);
      if (unit.label() != byte) return std::nullopt;
      node ^= unit.offset();
      if (!unit.has_leaf()) continue;
      const std::size_t start = node < trie_.size() ? Unit(trie_[node]).value() : texts_.size();
      if (start >= texts_.size()) return std::nullopt;
      return std::string_view(texts_).substr(start, texts_.find('\0', start) - start);
    }
    return std::nullopt;
  }

  std::vector<std::uint32_t> trie_;
  std::string texts_;
};

}  // namespace

std::unique_ptr<Normalizer> read_precompiled(const Section& section) {
  return std::make_unique<Precompiled>(section);
}

}  // namespace mase::tokenizer
