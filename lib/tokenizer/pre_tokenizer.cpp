// SPDX-License-Identifier: Apache-2.0
// The table of pre-tokenizers, and those that look at single characters.
#include "tokenizer/pre_tokenizer.hpp"

#include "tokenizer/code_points.hpp"
#include "tokenizer/delimiters.hpp"
#include "tokenizer/unicode.hpp"

namespace mase::tokenizer {

void Pieces::clear() {
  text.clear();
  pieces.clear();
}

void Pieces::append(std::string_view part, TokenId token, bool is_start) {
  if (part.empty()) return;
  const auto begin = static_cast<std::uint32_t>(text.size());
  text += part;
  pieces.push_back({begin, static_cast<std::uint32_t>(text.size()), token, is_start});
}

namespace {

bool is_bert_punctuation(char32_t code) {
  if (code < 0x80)
    return (code > ' ' && code < '0') || (code > '9' && code < 'A') || (code > 'Z' && code < 'a') ||
           (code > 'z' && code < 0x7F);
  return has(code, bert_punctuation);
}

/// Splits at every code point for which is_delimiter is true.
template <class IsDelimiter>
void split_at(Pieces& pieces, Delimiters delimiters, IsDelimiter is_delimiter) {
  std::vector<Part> parts;
  pieces.split([&](const Piece& piece) {
    parts.clear();
    std::size_t begin = piece.begin;
    for (std::size_t at = begin; at < piece.end;) {
      const std::size_t start = at;
      if (!is_delimiter(next_code_point(pieces.text, at))) continue;
      if (begin < start) parts.push_back({begin, start, false});
      parts.push_back({start, at, true});
      begin = at;
    }
    if (begin < piece.end) parts.push_back({begin, piece.end, false});
    add_parts(pieces, piece, parts, delimiters);
  });
}

class WhitespaceSplit : public PreTokenizer {
 public:
  explicit WhitespaceSplit(const Section&) {}
  void split(Pieces& pieces) const override {
    split_at(pieces, Delimiters::removed, is_white_space);
  }
};

/// Removes white space and makes every punctuation character a word.
class BertPreTokenizer : public PreTokenizer {
 public:
  explicit BertPreTokenizer(const Section&) {}
  void split(Pieces& pieces) const override {
    pieces.split([&](const Piece& piece) {
      std::size_t begin = piece.begin;
      for (std::size_t at = begin; at < piece.end;) {
        const std::size_t start = at;
        const char32_t code = next_code_point(pieces.text, at);
        const bool punctuation = is_bert_punctuation(code);
        if (!punctuation && !is_white_space(code)) continue;
        pieces.add(piece, begin, start);
        if (punctuation) pieces.add(piece, start, at);
        begin = at;
      }
      pieces.add(piece, begin, piece.end);
    });
  }
};

class Punctuation : public PreTokenizer {
 public:
  explicit Punctuation(const Section& section)
      : delimiters_(read_delimiters(section, Delimiters::isolated)) {}
  void split(Pieces& pieces) const override { split_at(pieces, delimiters_, is_bert_punctuation); }

 private:
  Delimiters delimiters_;
};

class Digits : public PreTokenizer {
 public:
  explicit Digits(const Section& section)
      : delimiters_(section.boolean("individual_digits") ? Delimiters::isolated
                                                         : Delimiters::contiguous) {}
  void split(Pieces& pieces) const override { split_at(pieces, delimiters_, is_numeric); }

 private:
  Delimiters delimiters_;
};

class CharDelimiterSplit : public PreTokenizer {
 public:
  explicit CharDelimiterSplit(const Section& section)
      : delimiter_(section.character("delimiter")) {}
  void split(Pieces& pieces) const override {
    split_at(pieces, Delimiters::removed, [&](char32_t code) { return code == delimiter_; });
  }

 private:
  char32_t delimiter_;
};

/// Splits into words of so many code points.
class FixedLength : public PreTokenizer {
 public:
  explicit FixedLength(const Section& section) : length_(section.number("length", 5)) {
    if (length_ == 0) section.at("length").fail("must be at least 1");
  }
  void split(Pieces& pieces) const override {
    pieces.split([&](const Piece& piece) {
      std::size_t begin = piece.begin, at = begin;
      while (at < piece.end) {
        for (std::uint32_t i = 0; i < length_ && at < piece.end; ++i)
          next_code_point(pieces.text, at);
        pieces.add(piece, begin, at);
        begin = at;
      }
    });
  }

 private:
  std::uint32_t length_;
};

/// Words are runs of letters, marks and digits, or of anything else but white space.
class Whitespace : public PreTokenizer {
 public:
  explicit Whitespace(const Section&) {}
  void split(Pieces& pieces) const override {
    pieces.split([&](const Piece& piece) {
      std::size_t begin = piece.begin;
      Group group = Group::space;
      for (std::size_t at = begin; at < piece.end;) {
        const std::size_t start = at;
        const Group next = group_of(next_code_point(pieces.text, at));
        if (next == group) continue;
        if (group != Group::space) pieces.add(piece, begin, start);
        begin = start;
        group = next;
      }
      if (group != Group::space) pieces.add(piece, begin, piece.end);
    });
  }

 private:
  enum class Group { space, word, other };
  static Group group_of(char32_t code) {
    if (is_white_space(code)) return Group::space;
    return has(code, word) ? Group::word : Group::other;
  }
};

class PreTokenizerSequence : public PreTokenizer {
 public:
  explicit PreTokenizerSequence(const Section& section) {
    for (const Section& item : section.items("pretokenizers"))
      parts_.push_back(read_pre_tokenizer(item));
  }
  void split(Pieces& pieces) const override {
    for (const auto& part : parts_) part->split(pieces);
  }

 private:
  std::vector<std::unique_ptr<PreTokenizer>> parts_;
};

template <class Part>
std::unique_ptr<PreTokenizer> make_pre_tokenizer(const Section& section) {
  return std::make_unique<Part>(section);
}

constexpr Kind<PreTokenizer> pre_tokenizer_kinds[] = {
    {"BertPreTokenizer", make_pre_tokenizer<BertPreTokenizer>},
    {"ByteLevel", read_byte_level},
    {"CharDelimiterSplit", make_pre_tokenizer<CharDelimiterSplit>},
    {"Digits", make_pre_tokenizer<Digits>},
    {"FixedLength", make_pre_tokenizer<FixedLength>},
    {"Metaspace", read_metaspace},
    {"Punctuation", make_pre_tokenizer<Punctuation>},
    {"Sequence", make_pre_tokenizer<PreTokenizerSequence>},
    {"Split", read_split},
    {"Whitespace", make_pre_tokenizer<Whitespace>},
    {"WhitespaceSplit", make_pre_tokenizer<WhitespaceSplit>},
};

}  // namespace

std::unique_ptr<PreTokenizer> read_pre_tokenizer(const Section& section) {
  return read_kind<PreTokenizer>(pre_tokenizer_kinds, section);
}

}  // namespace mase::tokenizer
