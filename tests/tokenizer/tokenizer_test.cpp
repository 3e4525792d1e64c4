// SPDX-License-Identifier: Apache-2.0
// Small tokenizers whose results are worked out by hand. tests/cli/tokenizer_test.py compares large
// ones with the package `tokenizers`.
#include "tokenizer/tokenizer.hpp"

#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "base/text.hpp"

using namespace mase;
using tokenizer::Encoding;
using tokenizer::TokenId;
using tokenizer::Tokenizer;

namespace {

using Ids = std::vector<TokenId>;

/// BERT with a vocabulary of a few words; `more` are further keys of the file.
Tokenizer small_bert(const std::string& more = "") {
  return Tokenizer::parse(
      R"({"normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
                         "strip_accents": null, "lowercase": true},
          "pre_tokenizer": {"type": "BertPreTokenizer"},
          "post_processor": {"type": "BertProcessing", "cls": ["[CLS]", 1], "sep": ["[SEP]", 2]},
          "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true},
          "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                    "max_input_chars_per_word": 8,
                    "vocab": {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "un": 3, "##aff": 4, "##able": 5,
                              "##a": 6, "caf": 7, "##e": 8, ",": 9, "東": 10, "[MASK]": 11}})" +
          more + "}",
      "t.json");
}

std::string refusal(const std::string& json) {
  try {
    Tokenizer::parse(json, "t.json");
  } catch (const Error& error) {
    CHECK(error.fault() == Fault::file);
    return error.what();
  }
  return "";
}

std::string wrong_text(Tokenizer tokenizer, const std::string& first, const std::string& second) {
  try {
    tokenizer.encode_pair(first, second);
  } catch (const Error& error) {
    CHECK(error.fault() == Fault::config);
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("WordPiece takes the longest token from the front") {
  Tokenizer bert = small_bert();
  CHECK(bert.encode("unaffable", false).tokens.ids == Ids{0});  // nine characters are too many
  CHECK(bert.encode("unaffa").tokens.ids == Ids{1, 3, 4, 6, 2});
  CHECK(bert.encode("unable").tokens.ids == Ids{1, 3, 5, 2});
  CHECK(bert.encode("unb, un").tokens.ids == Ids{1, 0, 9, 3, 2});
  CHECK(bert.encode("").tokens.ids == Ids{1, 2});
}

TEST_CASE("BertNormalizer removes case, accents and control characters, and parts ideographs") {
  Tokenizer bert = small_bert();
  const Ids cafe{7, 8};
  for (const char* text : {"cafe", "CAF\xC3\x89", "Cafe\xCC\x81",
                           "ca\xC2\xAD\x01"
                           "fe",
                           "\t cafe\n"})
    CHECK(bert.encode(text, false).tokens.ids == cafe);
  CHECK(bert.encode("un東un", false).tokens.ids == Ids{3, 10, 3});
}

TEST_CASE("a pair has types, and decoding leaves out special tokens and joins words") {
  Tokenizer bert = small_bert(
      R"(, "added_tokens": [{"id": 1, "content": "[CLS]", "special": true, "normalized": false},
                            {"id": 2, "content": "[SEP]", "special": true, "normalized": false},
                            {"id": 11, "content": "[MASK]", "special": true, "normalized": false,
                             "lstrip": true}])");
  const Encoding pair = bert.encode_pair("unable, cafe", "un  [MASK]");
  CHECK(pair.tokens.ids == Ids{1, 3, 5, 9, 7, 8, 2, 3, 11, 2});
  CHECK(pair.type_ids == std::vector<std::uint32_t>{0, 0, 0, 0, 0, 0, 0, 1, 1, 1});
  CHECK(join(bert.texts_of(pair), "|") == "[CLS]|un|##able|,|caf|##e|[SEP]|un|  [MASK]|[SEP]");
  CHECK(bert.decode(pair.tokens.ids) == "unable, cafe un");
  CHECK(bert.decode(Ids{3, 11, 99}, false) == "un [MASK]");
}

TEST_CASE("truncation leaves room for special tokens, and padding is not attended to") {
  Tokenizer bert = small_bert(
      R"(, "truncation": {"max_length": 7, "strategy": "LongestFirst", "stride": 0,
                          "direction": "Right"},
           "padding": {"strategy": {"Fixed": 5}, "direction": "Right", "pad_to_multiple_of": 4,
                       "pad_id": 0, "pad_type_id": 3, "pad_token": "[UNK]"})");
  const Encoding pair = bert.encode_pair("un , , ,", "un");  // four tokens have room: three and one
  CHECK(pair.tokens.ids == Ids{1, 3, 9, 9, 2, 3, 2, 0});
  CHECK(pair.type_ids == std::vector<std::uint32_t>{0, 0, 0, 0, 0, 1, 1, 3});
  CHECK(pair.attention_mask == std::vector<std::uint8_t>{1, 1, 1, 1, 1, 1, 1, 0});
}

TEST_CASE("a text of a pair never loses all its tokens") {
  const std::string second =
      R"(, "truncation": {"max_length": 5, "strategy": "OnlySecond", "stride": 0})";
  CHECK(small_bert(second).encode_pair("un", "un un").tokens.ids == Ids{1, 3, 2, 3, 2});
  CHECK(
      wrong_text(small_bert(second), "un un", "un") ==
      "truncation to 5 tokens would remove all 1 tokens of one text of a pair; shorten the other");
}

TEST_CASE("texts that are not UTF-8 are refused") {
  CHECK(wrong_text(small_bert(), "a\xFF", "") == "a text is not UTF-8 at byte 1");
}

TEST_CASE("messages name file, key and what is known") {
  CHECK(refusal("{}") == "t.json: has no \"model\"");
  CHECK(refusal(R"({"model": {"type": "Neural"}})")
            .starts_with("t.json: model.type: \"Neural\" is unknown; known are "));
  CHECK(refusal(R"({"model": {"type": "WordPiece", "vocab": {"a": -1}}})") ==
        "t.json: model.vocab: the id of \"a\" must be a number from 0 to 2147483647");
  CHECK(refusal(R"({"model": {"type": "WordPiece", "vocab": []}})") ==
        "t.json: model.vocab: must be a table, and is of the type array");
  CHECK(refusal(R"({"normalizer": {"type": "Sequence", "normalizers": [{"type": "Strip"}]},
                    "model": {"type": "WordPiece", "vocab": {}}})") ==
        "t.json: normalizer.normalizers[0]: has no \"strip_left\"");
}
