// SPDX-License-Identifier: Apache-2.0
// Texts as rows of a tokenizer's ids. The package `tokenizers` 0.23 made the ids of tables and of
// pairs, with enable_truncation and enable_padding; those of a long text, of groups by length and
// of a model's padding token follow from the small vocabulary by hand.
#include <algorithm>
#include <functional>
#include <set>

#include "data/dataset.hpp"
#include "data/group_by_length.hpp"
#include "files.hpp"

using namespace mase;
using namespace mase::data;
using Catch::Contains;
using mase::test::Folder;
using mase::test::message_of;

namespace {

using Ids = std::vector<std::int64_t>;

/// WordPiece of a few words with [CLS] and [SEP]; `more` are further keys of the file.
std::string small_tokenizer(const std::string& more = "") {
  return R"({"version": "1.0", "added_tokens": [],
    "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
                   "strip_accents": null, "lowercase": true},
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "post_processor": {"type": "BertProcessing", "cls": ["[CLS]", 2], "sep": ["[SEP]", 3]},
    "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
              "max_input_chars_per_word": 100,
              "vocab": {"[UNK]": 0, "[PAD]": 9, "[CLS]": 2, "[SEP]": 3, "a": 4, "dull": 5,
                        "##er": 6, "film": 7, ",": 8, "caf": 1, "##e": 10}})" +
         more + "}";
}

/// A folder with a table and a tokenizer.
struct TextFolder {
  Folder folder;
  DataOptions options;

  explicit TextFolder(const std::string& table, const std::string& more = "") {
    options.data_dir = folder.write("t.csv", table);
    options.tokenizer = folder.write("tokenizer.json", small_tokenizer(more));
    options.validation_share = options.test_share = 0.0;
  }
  Dataset load() const { return load_dataset("text", options); }
  std::string refusal(Fault fault) const {
    return message_of(fault, [&] { load(); });
  }
};

Ids values_of(const Dataset& set, std::size_t input) {
  const auto values = set.inputs.at(input).values.span<std::int64_t>();
  return {values.begin(), values.end()};
}

const std::string films =
    "text,label\n\"A duller, duller film\",1\nCAF\xc3\x89,0\n\"a\nfilm \"\"x\"\"\",1\n";

}  // namespace

TEST_CASE("texts become the ids of a tokenizer, as long as the longest") {
  TextFolder files(films);
  files.options.tokenizer = files.folder.text();
  files.folder.write("tokenizer_config.json",
                     R"({"pad_token": "[PAD]", "model_max_length": 1e30})");
  const Dataset set = files.load();
  REQUIRE(set.inputs.size() == 3);
  CHECK(set.input().name == "x");
  CHECK(set.features().shape() == Shape{3, 9});
  CHECK(values_of(set, 0) == Ids{2, 4, 5,  6, 8, 5, 6, 7, 3,  //
                                 2, 1, 10, 3, 9, 9, 9, 9, 9,  //
                                 2, 4, 7,  0, 0, 0, 3, 9, 9});
  CHECK(set.inputs[1].name == "attention_mask");
  CHECK(values_of(set, 1) == Ids{1, 1, 1, 1, 1, 1, 1, 1, 1,  //
                                 1, 1, 1, 1, 0, 0, 0, 0, 0,  //
                                 1, 1, 1, 1, 1, 1, 1, 0, 0});
  CHECK(set.inputs[2].name == "token_type_ids");
  CHECK(values_of(set, 2) == Ids(27, 0));
  REQUIRE(set.inputs[0].tokens);
  CHECK(set.inputs[0].tokens->lengths == std::vector<std::int32_t>{9, 4, 7});
  CHECK(set.inputs[0].tokens == set.inputs[1].tokens);
  CHECK(set.labels().class_names == std::vector<std::string>{"0", "1"});
}

TEST_CASE("a folder without a padding token pads with the id of its model") {
  TextFolder files("text,label\na,0\na film,1\n");
  CHECK(values_of(files.load(), 0) == Ids{2, 4, 3, 0, 2, 4, 7, 3});
  files.options.tokenizer = files.folder.text();
  files.folder.write("config.json", R"({"pad_token_id": 10})");
  CHECK(values_of(files.load(), 0) == Ids{2, 4, 3, 10, 2, 4, 7, 3});
  files.folder.write("config.json", R"({"pad_token_id": null})");
  CHECK(values_of(files.load(), 0) == Ids{2, 4, 3, 0, 2, 4, 7, 3});
  files.folder.write("special_tokens_map.json", R"({"pad_token": {"content": "[PAD]"}})");
  CHECK(values_of(files.load(), 0) == Ids{2, 4, 3, 9, 2, 4, 7, 3});
}

TEST_CASE("rows are the same for any number of threads, and the hash is that of the ids") {
  std::string table = "text,label\n";
  for (int i = 0; i < 4000; ++i)
    table += std::string("a duller film ") + std::string(static_cast<std::size_t>(i % 97), 'a') +
             " film film film film film film film film film film film,1\n";
  TextFolder files(table);
  files.options.num_workers = 1;
  const Dataset one = files.load();
  files.options.num_workers = 7;
  CHECK(files.load().sha256 == one.sha256);
  files.options.max_token_len = 9;
  CHECK(files.load().sha256 != one.sha256);
}

TEST_CASE("long texts are cut in front of the last special token") {
  TextFolder files(films);
  files.options.max_token_len = 5;
  CHECK(values_of(files.load(), 0) == Ids{2, 4, 5, 6, 3, 2, 1, 10, 3, 0, 2, 4, 7, 0, 3});
  files.options.max_token_len.reset();
  files.options.token_limit = 4;
  CHECK(values_of(files.load(), 0) == Ids{2, 4, 5, 3, 2, 1, 10, 3, 2, 4, 7, 3});
  files.options.max_token_len = 6;
  CHECK_THAT(files.refusal(Fault::config),
             Contains("max_token_len = 6: the model has positions for 4 tokens"));
  files.options.token_limit.reset();
  files.options.max_token_len = 2;
  CHECK_THAT(files.refusal(Fault::config),
             Contains("max_token_len = 2 is too small") && Contains("give at least 3"));
}

TEST_CASE("the file of a tokenizer says how its texts are cut and padded") {
  const TextFolder files(films, R"(,
      "truncation": {"direction": "Left", "max_length": 6, "strategy": "LongestFirst", "stride": 0},
      "padding": {"strategy": "BatchLongest", "direction": "Left", "pad_to_multiple_of": null,
                  "pad_id": 9, "pad_type_id": 1, "pad_token": "[PAD]"})");
  const Dataset set = files.load();
  CHECK(values_of(set, 0) == Ids{2, 8, 5, 6, 7, 3, 9, 9, 2, 1, 10, 3, 2, 7, 0, 0, 0, 3});
  CHECK(values_of(set, 1) == Ids{1, 1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1});
  CHECK(values_of(set, 2) == Ids{0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("pairs of texts have types, and the longer text of a pair is cut first") {
  TextFolder files("text,other,label\na,duller film,0\nduller film duller film,a film,1\n");
  files.options.text_pair_column = "other";
  Dataset set = files.load();
  CHECK(values_of(set, 0) == Ids{2, 4, 3, 5, 6, 7, 3, 0, 0, 0, 0,  //
                                 2, 5, 6, 7, 5, 6, 7, 3, 4, 7, 3});
  CHECK(values_of(set, 2) == Ids{0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0,  //
                                 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1});
  files.options.max_token_len = 7;
  CHECK(values_of(files.load(), 0) == Ids{2, 4, 3, 5, 6, 7, 3, 2, 5, 6, 3, 4, 7, 3});
  set.follow({"input_ids", "token_type_ids", "attention_mask"});
  CHECK(set.inputs[0].name == "input_ids");
  CHECK(set.inputs[1].name == "token_type_ids");
  const std::string lines = files.folder.write(
      "t.jsonl",
      "{\"text\": \"a\", \"other\": \"duller film\", \"label\": 0}\n"
      "{\"text\": \"duller film duller film\", \"other\": \"a film\", \"label\": 1}\n");
  const std::string hash = files.load().sha256;
  files.options.data_dir = lines;
  CHECK(files.load().sha256 == hash);
  files.options.tokenizer.reset();
  CHECK_THAT(files.refusal(Fault::config), Contains("needs a tokenizer (--tokenizer)"));
}

TEST_CASE("a long text is a stream of ids without special tokens, cut into windows") {
  TextFolder files("");
  std::string text;
  for (int i = 0; i < 10; ++i) text += "A duller\nfilm,\n\ncaf\xc3\xa9 x ";
  files.options.data_dir = files.folder.write("t.txt", text);
  files.options.max_token_len = 7;
  const Dataset set = files.load();  // 8 tokens ten times: 11 windows and 3 tokens
  const Ids once{4, 5, 6, 7, 8, 1, 10, 0};
  CHECK(set.features().shape() == Shape{11, 7});
  const Ids x = values_of(set, 0);
  const auto next = set.labels().values.span<std::int64_t>();
  for (std::size_t i = 0; i < 77; ++i) {
    CHECK(x[i] == once[i % 8]);
    CHECK(next[i] == once[(i + 1) % 8]);
  }
  CHECK(values_of(set, 1) == Ids(77, 1));
  CHECK(set.labels().task == "next_token");
  CHECK(set.labels().class_names == std::vector<std::string>{"[UNK]", "caf", "[CLS]", "[SEP]", "a",
                                                             "dull", "##er", "film", ",", "[PAD]",
                                                             "##e"});
  files.options.max_token_len = 8;
  CHECK_THAT(files.refusal(Fault::file), Contains("80 tokens are too few for 10 rows of 8 tokens"));
  files.folder.write("t.txt", text + "\xff");
  CHECK_THAT(files.refusal(Fault::file), Contains("t.txt: a text is not UTF-8 at byte 240"));
}

TEST_CASE("rows of similar length share a batch, which is as wide as its longest row") {
  std::string table = "text,label\n";
  for (int i = 0; i < 100; ++i) {
    for (int word = 0; word <= i * 7 % 30; ++word) table += "film ";
    table += "," + std::to_string(i % 2) + "\n";
  }
  TextFolder files(table);
  files.options.validation_share = 0.1;
  files.options.test_share = 0.3;
  Dataset set = files.load();
  const Dataset plain = set;
  CHECK_FALSE(set.width_of(set.train));
  group_by_length(set, 8, 3);
  CHECK(set.sha256 == plain.sha256);
  CHECK(set.train == plain.train);
  CHECK(set.test != plain.test);
  CHECK(std::set(set.test.begin(), set.test.end()) ==
        std::set(plain.test.begin(), plain.test.end()));
  const auto& lengths = set.inputs[0].tokens->lengths;
  const auto length = [&](std::int64_t row) { return lengths[static_cast<std::size_t>(row)]; };
  Random random(1), same(1);
  const std::vector<std::int64_t> order = rows_by_length(set, set.train, 8, random);
  CHECK(order == rows_by_length(set, set.train, 8, same));
  CHECK(rows_by_length(set, set.train, 8, random) != order);  // another order of batches
  std::vector<std::int64_t> sorted = set.train;  // 60 rows are fewer than fifty batches of 8
  std::ranges::sort(sorted, std::greater(), length);
  std::multiset<std::int64_t> widths, expected;
  for (std::int64_t first = 0; first < 60; first += 8) {
    const std::int64_t count = std::min<std::int64_t>(8, 60 - first);
    const Batch batch = set.narrow_batch(order, first, count);
    widths.insert(batch.inputs[0].shape()[1]);
    expected.insert(length(sorted[static_cast<std::size_t>(first)]));
    const Batch full = set.batch(order, first, count);
    for (std::size_t input = 0; input < 3; ++input) {
      CHECK(batch.inputs[input].shape() == batch.inputs[0].shape());
      for (std::int64_t row = 0; row < count; ++row) {
        const auto some = batch.inputs[input].rows(row, 1), all = full.inputs[input].rows(row, 1);
        CHECK(std::ranges::equal(some.span<std::int64_t>(),
                                 all.span<std::int64_t>().first(some.span<std::int64_t>().size())));
      }
    }
  }
  CHECK(widths == expected);
  Dataset toy = load_dataset("toy-tiny", {});
  CHECK_THAT(message_of(Fault::config, [&] { group_by_length(toy, 8, 0); }),
             Contains("toy-tiny have one length"));
}

TEST_CASE("padding in front is cut in front") {
  TextFolder files(films, R"(, "padding": {"strategy": "BatchLongest", "direction": "Left",
      "pad_to_multiple_of": null, "pad_id": 9, "pad_type_id": 0, "pad_token": "[PAD]"})");
  Dataset set = files.load();
  group_by_length(set, 2, 0);
  const Batch batch = set.narrow_batch({1, 2}, 0, 2);
  const auto ids = batch.inputs[0].span<std::int64_t>();
  CHECK(Ids(ids.begin(), ids.end()) == Ids{9, 9, 9, 2, 1, 10, 3, 2, 4, 7, 0, 0, 0, 3});
}

TEST_CASE("texts that a tokenizer cannot take are refused with their place") {
  CHECK_THAT(TextFolder("text,label\na,1\nfilm \xff,0\na,1\n").refusal(Fault::file),
             Contains("t.csv: line 3, column 'text': a text is not UTF-8 at byte 5"));
  TextFolder pairs("text,other\na,b\nb,\"\"\n");
  pairs.options.text_pair_column = "other";
  CHECK_THAT(pairs.refusal(Fault::file), Contains("line 3") && Contains("second text is empty"));
  pairs.options.text_pair_column = "others";
  CHECK_THAT(pairs.refusal(Fault::file), Contains("there is no column 'others'"));
}

TEST_CASE("a tokenizer that cannot be read is refused with what to do") {
  TextFolder files(films);
  files.options.tokenizer = files.folder / "none";
  CHECK_THAT(files.refusal(Fault::file), Contains("none: no such file") && Contains("--tokenizer"));
  files.options.tokenizer = files.folder.write("other.json", R"({"model": {"type": "Words"}})");
  CHECK_THAT(files.refusal(Fault::file), Contains("other.json: model") && Contains("WordPiece"));
  files.options.tokenizer = files.folder.text();
  files.folder.write("special_tokens_map.json", R"({"pad_token": {"content": "<pad>"}})");
  CHECK_THAT(files.refusal(Fault::file), Contains("there is no token \"<pad>\""));
  files.folder.write("tokenizer_config.json", R"({"pad_token": "[PAD]", "model_max_length": "x"})");
  CHECK_THAT(files.refusal(Fault::file),
             Contains("tokenizer_config.json: model_max_length: must be a number"));
}
