// SPDX-License-Identifier: Apache-2.0
// The table of decoders.
#include "tokenizer/decoder.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "base/utf8.hpp"
#include "tokenizer/byte_characters.hpp"
#include "tokenizer/byte_tokens.hpp"
#include "tokenizer/code_points.hpp"
#include "tokenizer/pattern.hpp"

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

void clean_up(std::string& token) {
  for (const auto& [from, to] : clean_ups) token = replace_all(std::move(token), from, to);
}

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
      if (clean_) clean_up(token);
    }
  }

 private:
  std::string prefix_;
  bool clean_;
};

constexpr const char* replacement_character = "\xEF\xBF\xBD";

/// The length of the part of a UTF-8 sequence that is well-formed so far, at least 1.
std::size_t maximal_part(std::string_view text, std::size_t at) {
  // What could follow the bytes that are there makes them a sequence (Unicode, table 3-7).
  for (std::size_t size = std::min<std::size_t>(3, text.size() - at); size > 1; --size) {
    std::string part(text.substr(at, size));
    for (const char next : {'\x80', '\x90', '\xA0', '\xBF'})
      for (const std::size_t more : {1, 2}) {
        std::string whole = part;
        whole += next;
        if (more == 2) whole += '\x80';
        if (utf8_length(whole, 0) == whole.size()) return size;
      }
  }
  return 1;
}

/// Bytes as text; what is not UTF-8 becomes U+FFFD, one for each part that could have been one.
std::string text_of_bytes(std::string_view bytes) {
  std::string text;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t length = utf8_length(bytes, at);
    if (length > 0)
      text += bytes.substr(at, length);
    else
      text += replacement_character;
    at += length > 0 ? length : maximal_part(bytes, at);
  }
  return text;
}

class ByteLevelDecoder : public Decoder {
 public:
  explicit ByteLevelDecoder(const Section&) {}
  void apply(std::vector<std::string>& tokens) const override {
    std::string bytes;
    for (const std::string& token : tokens) add(token, bytes);
    tokens.assign(1, text_of_bytes(bytes));
  }

 private:
  /// A token with other characters, such as an added one, is text.
  static void add(const std::string& token, std::string& bytes) {
    const std::size_t before = bytes.size();
    for (std::size_t at = 0; at < token.size();) {
      const auto byte = byte_of_character(next_code_point(token, at));
      if (!byte) {
        bytes.resize(before);
        bytes += token;
        return;
      }
      bytes += static_cast<char>(*byte);
    }
  }
};

/// Joins the tokens of bytes that follow each other.
class ByteFallback : public Decoder {
 public:
  explicit ByteFallback(const Section&) {}
  void apply(std::vector<std::string>& tokens) const override {
    std::vector<std::string> result;
    std::string bytes;
    const auto flush = [&] {
      if (bytes.empty()) return;
      bool is_text = true;
      for (std::size_t at = 0; is_text && at < bytes.size();) {
        const std::size_t length = utf8_length(bytes, at);
        is_text = length > 0;
        at += length;
      }
      if (is_text)
        result.push_back(bytes);
      else
        result.insert(result.end(), bytes.size(), replacement_character);
      bytes.clear();
    };
    for (std::string& token : tokens) {
      if (const auto byte = byte_of_token(token)) {
        bytes += *byte;
        continue;
      }
      flush();
      result.push_back(std::move(token));
    }
    flush();
    tokens = std::move(result);
  }
};

class MetaspaceDecoder : public Decoder {
 public:
  explicit MetaspaceDecoder(const Section& section)
      : removes_first_(section.boolean("add_prefix_space", true) &&
                       section.text("prepend_scheme", "always") != "never") {
    append_code_point(space_, section.character("replacement"));
  }
  void apply(std::vector<std::string>& tokens) const override {
    for (std::size_t i = 0; i < tokens.size(); ++i)
      tokens[i] = replace_all(std::move(tokens[i]), space_, i == 0 && removes_first_ ? "" : " ");
  }

 private:
  std::string space_;
  bool removes_first_;
};

class BpeDecoder : public Decoder {
 public:
  explicit BpeDecoder(const Section& section) : suffix_(section.text("suffix")) {
    if (suffix_.empty()) section.at("suffix").fail("must not be empty");
  }
  void apply(std::vector<std::string>& tokens) const override {
    for (std::string& token : tokens)
      token = replace_all(std::move(token), suffix_, &token == &tokens.back() ? "" : " ");
  }

 private:
  std::string suffix_;
};

/// For speech: a token that is repeated counts once, and padding parts two that are the same.
class CtcDecoder : public Decoder {
 public:
  explicit CtcDecoder(const Section& section)
      : padding_(section.text("pad_token")),
        space_(section.text("word_delimiter_token")),
        clean_(section.boolean("cleanup")) {
    if (padding_.empty()) section.at("pad_token").fail("must not be empty");
    if (space_.empty()) section.at("word_delimiter_token").fail("must not be empty");
  }
  void apply(std::vector<std::string>& tokens) const override {
    tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
    for (std::string& token : tokens) {
      token = replace_all(std::move(token), padding_, "");
      if (!clean_) continue;
      clean_up(token);
      token = replace_all(std::move(token), space_, " ");
    }
  }

 private:
  std::string padding_, space_;
  bool clean_;
};

class Fuse : public Decoder {
 public:
  explicit Fuse(const Section&) {}
  void apply(std::vector<std::string>& tokens) const override {
    tokens.assign(1, join(tokens, ""));
  }
};

/// Removes up to so many of a character from the front and from the end of each token.
class StripDecoder : public Decoder {
 public:
  explicit StripDecoder(const Section& section)
      : start_(section.number("start")), stop_(section.number("stop")) {
    append_code_point(content_, section.character("content"));
  }
  void apply(std::vector<std::string>& tokens) const override {
    for (std::string& token : tokens) {
      std::size_t begin = 0, end = token.size();
      const std::string_view text = token;
      for (std::uint32_t i = 0; i < start_ && text.substr(begin).starts_with(content_); ++i)
        begin += content_.size();
      for (std::uint32_t i = 0;
           i < stop_ && end > begin && text.substr(begin, end - begin).ends_with(content_); ++i)
        end -= content_.size();
      token = std::string(text.substr(begin, end - begin));
    }
  }

 private:
  std::string content_;
  std::uint32_t start_, stop_;
};

class ReplaceDecoder : public Decoder {
 public:
  explicit ReplaceDecoder(const Section& section) : replacement_(section) {}
  void apply(std::vector<std::string>& tokens) const override {
    std::string spare;
    for (std::string& token : tokens) replacement_.apply(token, spare);
  }

 private:
  Replacement replacement_;
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
    {"BPEDecoder", make_decoder<BpeDecoder>},
    {"ByteFallback", make_decoder<ByteFallback>},
    {"ByteLevel", make_decoder<ByteLevelDecoder>},
    {"CTC", make_decoder<CtcDecoder>},
    {"Fuse", make_decoder<Fuse>},
    {"Metaspace", make_decoder<MetaspaceDecoder>},
    {"Replace", make_decoder<ReplaceDecoder>},
    {"Sequence", make_decoder<DecoderSequence>},
    {"Strip", make_decoder<StripDecoder>},
    {"WordPiece", make_decoder<WordPieceDecoder>},
};

}  // namespace

std::unique_ptr<Decoder> read_decoder(const Section& section) {
  return read_kind<Decoder>(decoder_kinds, section);
}

}  // namespace mase::tokenizer
