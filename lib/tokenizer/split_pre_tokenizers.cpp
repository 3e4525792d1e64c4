// SPDX-License-Identifier: Apache-2.0
// Pre-tokenizers with patterns: Split, ByteLevel, and Metaspace, which writes spaces as a
// character.
#include "tokenizer/byte_characters.hpp"
#include "tokenizer/code_points.hpp"
#include "tokenizer/delimiters.hpp"
#include "tokenizer/pattern.hpp"
#include "tokenizer/pre_tokenizer.hpp"

namespace mase::tokenizer {
namespace {

/// The words of GPT-2.
constexpr const char* byte_level_pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

/// The parts of a text at the matches of a pattern; with `invert`, what is between them delimits.
template <class Searched>
void find_parts(const Searched& pattern, std::string_view text, std::size_t offset, bool invert,
                RegexMemory& memory, std::vector<Part>& parts) {
  parts.clear();
  std::size_t done = 0;
  const auto add = [&](std::size_t begin, std::size_t end, bool is_match) {
    if (begin < end || is_match)
      parts.push_back({offset + begin, offset + end, is_match != invert});
  };
  pattern.find_all(text, memory, [&](std::size_t begin, std::size_t end) {
    add(done, begin, false);
    add(begin, end, true);
    done = end;
  });
  add(done, text.size(), false);
}

class Split : public PreTokenizer {
 public:
  explicit Split(const Section& section)
      : pattern_(section.at("pattern")),
        delimiters_(read_delimiters(section)),
        invert_(section.boolean("invert", false)) {}

  void split(Pieces& pieces) const override {
    pieces.split([&](const Piece& piece) {
      find_parts(pattern_, pieces.text_of(piece), piece.begin, invert_, memory_, parts_);
      add_parts(pieces, piece, parts_, delimiters_);
    });
  }

 private:
  Pattern pattern_;
  Delimiters delimiters_;
  bool invert_;
  mutable RegexMemory memory_;
  mutable std::vector<Part> parts_;
};

class ByteLevel : public PreTokenizer {
 public:
  explicit ByteLevel(const Section& section) : add_space_(section.boolean("add_prefix_space")) {
    if (section.boolean("use_regex", true))
      words_ = std::make_unique<Regex>(byte_level_pattern, section);
  }

  void split(Pieces& pieces) const override {
    pieces.rewrite([&](const Piece& piece) {
      std::string_view text = pieces.text_of(piece);
      if (add_space_ && !text.starts_with(' ')) {
        spaced_.assign(" ").append(text);
        text = spaced_;
      }
      bool is_start = piece.is_start;
      const auto add = [&](std::size_t begin, std::size_t end) {
        const std::size_t written = pieces.next_text().size();
        append_byte_characters(pieces.next_text(), text.substr(begin, end - begin));
        pieces.add_written(written, is_start);
        is_start = false;
      };
      if (!words_) return add(0, text.size());
      // Every character is in a match, so the parts between matches are empty.
      words_->find_all(text, memory_, add);
    });
  }

 private:
  bool add_space_;
  std::unique_ptr<Regex> words_;
  mutable RegexMemory memory_;
  mutable std::string spaced_;
};

/// When a text begins with the character for a space.
enum class Prefix { always, first, never };
struct PrefixRow {
  std::string_view name;
  Prefix value;
};
constexpr PrefixRow prefixes[] = {
    {"always", Prefix::always}, {"first", Prefix::first}, {"never", Prefix::never}};

class Metaspace : public PreTokenizer {
 public:
  explicit Metaspace(const Section& section) : splits_(section.boolean("split", true)) {
    append_code_point(space_, section.character("replacement"));
    if (section.find("prepend_scheme"))
      prefix_ = row_named(prefixes, section, "prepend_scheme").value;
    if (!section.boolean("add_prefix_space", true)) {
      if (section.find("prepend_scheme") && prefix_ != Prefix::never)
        section.fail("add_prefix_space is false, and prepend_scheme is not never");
      prefix_ = Prefix::never;
    }
  }

  void split(Pieces& pieces) const override {
    pieces.rewrite([&](const Piece& piece) { write(pieces, piece); });
  }

 private:
  void write(Pieces& pieces, const Piece& piece) const {
    std::string& next = pieces.next_text();
    const std::string_view text = pieces.text_of(piece);
    std::size_t begin = next.size();
    bool is_start = piece.is_start;
    const bool has_space = text.starts_with(' ') || text.starts_with(space_);
    if (!has_space && (prefix_ == Prefix::always || (prefix_ == Prefix::first && is_start)))
      next += space_;
    for (std::size_t at = 0; at < text.size();) {
      const bool is_space = text[at] == ' ', is_written = text.substr(at).starts_with(space_);
      if (splits_ && (is_space || is_written) && next.size() > begin) {
        pieces.add_written(begin, is_start);
        begin = next.size();
        is_start = false;
      }
      if (is_space) {
        next += space_;
        ++at;
      } else {
        const std::size_t start = at;
        next_code_point(text, at);
        next.append(text, start, at - start);
      }
    }
    pieces.add_written(begin, is_start);
  }

  std::string space_;
  Prefix prefix_ = Prefix::always;
  bool splits_;
};

}  // namespace

std::unique_ptr<PreTokenizer> read_split(const Section& section) {
  return std::make_unique<Split>(section);
}
std::unique_ptr<PreTokenizer> read_byte_level(const Section& section) {
  return std::make_unique<ByteLevel>(section);
}
std::unique_ptr<PreTokenizer> read_metaspace(const Section& section) {
  return std::make_unique<Metaspace>(section);
}

}  // namespace mase::tokenizer
