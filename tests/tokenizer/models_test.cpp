// SPDX-License-Identifier: Apache-2.0
// BPE, Unigram and WordLevel on vocabularies that are small enough to work out by hand.
#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "base/text.hpp"
#include "tokenizer/tokenizer.hpp"

using namespace mase;
using tokenizer::Encoding;
using tokenizer::TokenId;
using tokenizer::Tokenizer;

namespace {

using Ids = std::vector<TokenId>;

/// A tokenizer of a model, without normalizer or pre-tokenizer unless `more` has them.
Tokenizer tokenizer_of(const std::string& model, const std::string& more = "") {
  return Tokenizer::parse(R"({"model": )" + model + more + "}", "t.json");
}

Ids ids_of(Tokenizer tokenizer, std::string_view text) { return tokenizer.encode(text).tokens.ids; }

std::string error_of(const std::string& model, std::string_view text = "") {
  try {
    tokenizer_of(model).encode(text);
  } catch (const Error& error) {
    CHECK(error.fault() == Fault::file);
    return error.what();
  }
  return "";
}

std::string repeated(const std::string& text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

}  // namespace

TEST_CASE("BPE merges the pair of the lowest rank first") {
  const std::string model =
      R"({"type": "BPE", "vocab": {"a": 0, "b": 1, "c": 2, "bc": 3, "ab": 4, "abc": 5},
          "merges": ["b c", ["a", "b"], "a bc"]})";
  CHECK(ids_of(tokenizer_of(model), "abc") == Ids{5});  // b c, then a bc
  CHECK(ids_of(tokenizer_of(model), "abab") == Ids{4, 4});
  CHECK(ids_of(tokenizer_of(model), "abbc") == Ids{4, 3});
  CHECK(ids_of(tokenizer_of(model), "axb") == Ids{4});  // without unk_token, x is left out
}

TEST_CASE("BPE has tokens for what is unknown: one, one for all in a row, or bytes") {
  const std::string start =
      R"({"type": "BPE", "merges": [], "unk_token": "?",
          "vocab": {"?": 0, "a": 1, "<0xC3>": 2, "<0xA9>": 3}, )";
  CHECK(ids_of(tokenizer_of(start + R"("fuse_unk": false})"), "axya") == Ids{1, 0, 0, 1});
  CHECK(ids_of(tokenizer_of(start + R"("fuse_unk": true})"), "axya") == Ids{1, 0, 1});
  CHECK(ids_of(tokenizer_of(start + R"("byte_fallback": true})"), "a\xC3\xA9x") == Ids{1, 2, 3, 0});
}

TEST_CASE("BPE marks the inside and the end of a word") {
  CHECK(ids_of(tokenizer_of(R"({"type": "BPE", "continuing_subword_prefix": "##",
                               "end_of_word_suffix": "</w>", "merges": ["a ##b</w>"],
                               "vocab": {"a": 0, "##a": 1, "##b</w>": 2, "ab</w>": 3}})"),
               "ab") == Ids{3});
}

TEST_CASE("ignore_merges takes a whole word that the vocabulary has") {
  const std::string vocabulary = R"("vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [])";
  CHECK(ids_of(tokenizer_of(R"({"type": "BPE", "ignore_merges": true, )" + vocabulary + "}"),
               "ab") == Ids{2});
  CHECK(ids_of(tokenizer_of(R"({"type": "BPE", )" + vocabulary + "}"), "ab") == Ids{0, 1});
}

TEST_CASE("a very long word is merged at once") {
  Tokenizer bpe = tokenizer_of(
      R"({"type": "BPE", "vocab": {"a": 0, "aa": 1, "aaaa": 2}, "merges": ["a a", "aa aa"]})");
  CHECK(bpe.encode(repeated("a", 1 << 20)).size() == 1 << 18);
}

TEST_CASE("byte-level words are GPT-2's") {
  // Each byte is a token of its own: the words show where the model may merge.
  Tokenizer words = tokenizer_of(
      R"({"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0, "it": 1, "'s": 2, "Ġa": 3,
          "Ġ": 4, "Ġ12": 5, "!!": 6, "Ã©": 7, "ĊĠ": 8}})",
      R"(, "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "use_regex": true},
           "decoder": {"type": "ByteLevel"})");
  const Ids ids = words.encode("it's a  12!!\xC3\xA9\n  a").tokens.ids;
  CHECK(ids == Ids{1, 2, 3, 4, 5, 6, 7, 8, 3});
  CHECK(words.decode(ids) == "it's a  12!!\xC3\xA9\n  a");
}

TEST_CASE("Unigram takes the tokens with the largest sum of scores") {
  const std::string model =
      R"({"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["a", -1], ["b", -1.5],
          ["ab", -2], ["abc", -9], ["c", -3]]})";
  CHECK(ids_of(tokenizer_of(model), "ab") == Ids{3});      // -2 against -2.5
  CHECK(ids_of(tokenizer_of(model), "abc") == Ids{3, 5});  // -5 against -9
  Tokenizer tokenizer = tokenizer_of(model);
  const Encoding encoding = tokenizer.encode("axyb");
  CHECK(encoding.tokens.ids == Ids{1, 0, 2});  // unknown characters in a row are one token
  CHECK(join(tokenizer.texts_of(encoding), "|") == "a|xy|b");
}

TEST_CASE("Metaspace writes spaces as a character and splits before it") {
  Tokenizer words = tokenizer_of(
      R"({"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0, "_a": 1, "_": 2, "b": 3, "a": 4}})",
      R"(, "pre_tokenizer": {"type": "Metaspace", "replacement": "_", "prepend_scheme": "first"},
           "added_tokens": [{"id": 5, "content": "<s>", "normalized": false}],
           "decoder": {"type": "Metaspace", "replacement": "_", "prepend_scheme": "first"})");
  const Ids ids = words.encode("a  a<s>a").tokens.ids;  // no prefix behind an added token
  CHECK(ids == Ids{1, 2, 1, 5, 4});
  CHECK(words.decode(ids) == "a  a<s>a");
}

TEST_CASE("what a model cannot do is an error") {
  CHECK(error_of(R"({"type": "BPE", "vocab": {"a": 0}, "merges": ["a b"]})") ==
        "t.json: model.merges[0]: \"b\" is not in the vocabulary");
  CHECK(error_of(R"({"type": "BPE", "vocab": {}, "merges": [], "dropout": 0.1})") ==
        "t.json: model.dropout: is for training and makes ids random; set it to null");
  CHECK(error_of(R"({"type": "Unigram", "vocab": [["a", -1]]})", "b") ==
        "t.json: model has no unk_id, which the word \"b\" needs; add it");
  CHECK(error_of(R"({"type": "WordLevel", "vocab": {"a": 1}, "unk_token": "?"})", "b") ==
        "t.json: model.vocab has no \"?\", which the word \"b\" needs; add it");
}
