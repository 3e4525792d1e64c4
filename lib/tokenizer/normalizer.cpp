// SPDX-License-Identifier: Apache-2.0
// The table of normalizers, and the short ones.
#include "tokenizer/normalizer.hpp"

#include <array>

#include "tokenizer/byte_characters.hpp"
#include "tokenizer/code_points.hpp"
#include "tokenizer/pattern.hpp"
#include "tokenizer/unicode.hpp"

namespace mase::tokenizer {
namespace {

template <Form form>
class FormNormalizer : public Normalizer {
 public:
  explicit FormNormalizer(const Section&) {}
  void apply(Normalized& text) const override { normalize(form, text.text, text.spare); }
};

/// Writes a text anew, code point by code point: change(code, result) appends what takes its place.
template <class Change>
void rewrite(Normalized& text, Change change) {
  text.spare.clear();
  for (std::size_t at = 0; at < text.text.size();) {
    const bool first = at == 0;
    change(next_code_point(text.text, at), text.spare);
    if (first && text.spare.empty()) text.keeps_start = false;
  }
  text.text.swap(text.spare);
}

class Lowercase : public Normalizer {
 public:
  explicit Lowercase(const Section&) {}
  void apply(Normalized& text) const override {
    rewrite(text, [](char32_t code, std::string& result) { append_lower(result, code); });
  }
};

class StripAccents : public Normalizer {
 public:
  explicit StripAccents(const Section&) {}
  void apply(Normalized& text) const override {
    if (is_ascii(text.text)) return;
    rewrite(text, [](char32_t code, std::string& result) {
      if (code < 0x80 || !has(code, old_mark)) append_code_point(result, code);
    });
  }
};

class Strip : public Normalizer {
 public:
  explicit Strip(const Section& section)
      : left_(section.boolean("strip_left")), right_(section.boolean("strip_right")) {}
  void apply(Normalized& text) const override {
    std::string& all = text.text;
    std::size_t begin = 0, end = all.size();
    for (std::size_t at = 0; left_ && at < end && is_white_space(next_code_point(all, at));)
      begin = at;
    while (right_ && end > begin && is_white_space(code_point_before(all, end)))
      end = previous_start(all, end);
    if (begin > 0) text.keeps_start = false;
    all.erase(end);
    all.erase(0, begin);
  }

 private:
  bool left_, right_;
};

class Prepend : public Normalizer {
 public:
  explicit Prepend(const Section& section) : prefix_(section.text("prepend")) {}
  void apply(Normalized& text) const override {
    if (!text.text.empty()) text.text.insert(0, prefix_);
  }

 private:
  std::string prefix_;
};

/// What the library NMT does to characters of control and spaces.
class Nmt : public Normalizer {
 public:
  explicit Nmt(const Section&) {}
  void apply(Normalized& text) const override {
    rewrite(text, [](char32_t code, std::string& result) {
      if (is_removed_by_nmt(code)) return;
      append_code_point(result, is_space_of_nmt(code) ? U' ' : code);
    });
  }

 private:
  static bool is_removed_by_nmt(char32_t code) {
    return (code >= 1 && code <= 8) || code == 0xB || (code >= 0xE && code <= 0x1F) ||
           code == 0x7F || code == 0x8F || code == 0x9F;
  }
  static bool is_space_of_nmt(char32_t code) {
    return code == 9 || code == 0xA || code == 0xC || code == 0xD || code == 0x1680 ||
           (code >= 0x200B && code <= 0x200F) || code == 0x2028 || code == 0x2029 ||
           code == 0x2581 || code == 0xFEFF || code == 0xFFFD;
  }
};

class Replace : public Normalizer {
 public:
  explicit Replace(const Section& section) : replacement_(section) {}
  void apply(Normalized& text) const override { replacement_.apply(text.text, text.spare); }

 private:
  Replacement replacement_;
};

class ByteCharacters : public Normalizer {
 public:
  explicit ByteCharacters(const Section&) {}
  void apply(Normalized& text) const override {
    text.spare.clear();
    append_byte_characters(text.spare, text.text);
    text.text.swap(text.spare);
  }
};

class NormalizerSequence : public Normalizer {
 public:
  explicit NormalizerSequence(const Section& section) {
    for (const Section& item : section.items("normalizers"))
      parts_.push_back(read_normalizer(item));
  }
  void apply(Normalized& text) const override {
    for (const auto& part : parts_) {
      part->apply(text);
      check_size(text.text);
    }
  }

 private:
  std::vector<std::unique_ptr<Normalizer>> parts_;
};

template <class Part>
std::unique_ptr<Normalizer> make_normalizer(const Section& section) {
  return std::make_unique<Part>(section);
}

constexpr Kind<Normalizer> normalizer_kinds[] = {
    {"BertNormalizer", read_bert_normalizer},
    {"ByteLevel", make_normalizer<ByteCharacters>},
    {"Lowercase", make_normalizer<Lowercase>},
    {"NFC", make_normalizer<FormNormalizer<Form::nfc>>},
    {"NFD", make_normalizer<FormNormalizer<Form::nfd>>},
    {"NFKC", make_normalizer<FormNormalizer<Form::nfkc>>},
    {"NFKD", make_normalizer<FormNormalizer<Form::nfkd>>},
    {"Nmt", make_normalizer<Nmt>},
    {"Precompiled", read_precompiled},
    {"Prepend", make_normalizer<Prepend>},
    {"Replace", make_normalizer<Replace>},
    {"Sequence", make_normalizer<NormalizerSequence>},
    {"Strip", make_normalizer<Strip>},
    {"StripAccents", make_normalizer<StripAccents>},
};

}  // namespace

std::unique_ptr<Normalizer> read_normalizer(const Section& section) {
  return read_kind<Normalizer>(normalizer_kinds, section);
}

}  // namespace mase::tokenizer
