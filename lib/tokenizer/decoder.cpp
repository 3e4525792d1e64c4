// SPDX-License-Identifier: Apache-2.0
// The table of decoders.
#include "tokenizer/decoder.hpp"

#include <array>

#include "base/text.hpp"

namespace mase::tokenizer {
namespace {

/// The spaces that English does not have before punctuation, and others, one after the other.
constexpr std::array<std::pair<const char*, const char*>, 11> clean_ups{{{" .", "."},
                                                                         {" ?", "?"},
                                                                         {" !", "!"},
                                                                         {" ,", ","},
                                                                         {" ' ", "'"},
                                                                         {" n't", "n't"},
                                                                         {" 'm", "'m"},
                                                                         {" do not", " don't"},
                                                                         {" 's", "'s"},
                                                                         {" 've", "'ve"},
                                                                         {" 're", "'re"}}};

class WordPieceDecoder : public Decoder {
 public:
  explicit WordPieceDecoder(const Section& section)
      : prefix_(section.text("prefix")), clean_(section.boolean("cleanup")) {}
  void apply(std::vector<std::string>& tokens) const override {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      std::string& token = tokens[i];
      if (i > 0 && token.starts_with(prefix_))
        token.erase(0, prefix_.size());
      else if (i > 0)
        token.insert(0, " ");
      if (!clean_) continue;
      for (const auto& [from, to] : clean_ups) token = replace_all(std::move(token), from, to);
    }
  }

 private:
  std::string prefix_;
  bool clean_;
};

class DecoderSequence : public Decoder {
 public:
  explicit DecoderSequence(const Section& section) {
    for (const Section& item : section.items("decoders")) parts_.push_back(read_decoder(item));
  }
  void apply(std::vector<std::string>& tokens) const override {
    for (const auto& part : parts_) part->apply(tokens);
  }

 private:
  std::vector<std::unique_ptr<Decoder>> parts_;
};

template <class Part>
std::unique_ptr<Decoder> make_decoder(const Section& section) {
  return std::make_unique<Part>(section);
}

constexpr Kind<Decoder> decoder_kinds[] = {
    {"Sequence", make_decoder<DecoderSequence>},
    {"WordPiece", make_decoder<WordPieceDecoder>},
};

}  // namespace

std::unique_ptr<Decoder> read_decoder(const Section& section) {
  return read_kind<Decoder>(decoder_kinds, section);
}

}  // namespace mase::tokenizer
