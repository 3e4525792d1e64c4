// SPDX-License-Identifier: Apache-2.0
// Texts as rows of token ids.
#include "data/class_order.hpp"
#include "data/dataset.hpp"
#include "files.hpp"

using namespace mase;
using namespace mase::data;
using Catch::Contains;
using mase::test::Folder;
using mase::test::message_of;

namespace {

DataOptions windows_of(const std::string& path, int tokens) {
  DataOptions options;
  options.data_dir = path;
  options.max_token_len = tokens;
  return options;
}

std::string text_of(const Array& tokens) {
  std::string text;
  for (const std::int64_t token : tokens.span<std::int64_t>()) text += static_cast<char>(token);
  return text;
}

}  // namespace

TEST_CASE("a row is a window of bytes, and every label the byte after") {
  const Folder folder;
  // 31 bytes: ten windows of three, and one byte after the last.
  const std::string path = folder.write("a.txt", "ABCDEFGHIJKLMNOPQRSTUVWXYZ\n\xff\x01?!");
  const Dataset set = load_dataset("text", windows_of(path, 3));
  CHECK(set.features().shape() == Shape{10, 3});
  CHECK(set.features().dtype() == DType::int64);
  CHECK(text_of(set.features()) == "ABCDEFGHIJKLMNOPQRSTUVWXYZ\n\xff\x01?");
  CHECK(text_of(set.labels().values) == "BCDEFGHIJKLMNOPQRSTUVWXYZ\n\xff\x01?!");
  CHECK(set.labels().values.shape() == Shape{10, 3});
  CHECK(set.labels().classes() == 256);
  CHECK(set.labels().class_names[65] == "A");
  CHECK(set.labels().class_names[10] == "0x0a");
  CHECK(set.labels().class_names[255] == "0xff");
}

TEST_CASE("parts of a text follow each other") {
  const Folder folder;
  folder.write("a.txt", std::string(41, 'x'));
  DataOptions options = windows_of(folder.text(), 2);  // the only text of the folder
  CHECK(load_dataset("text", options).train.size() == 14);
  options.validation_share = 0.25;
  options.test_share = 0.5;
  const Dataset set = load_dataset("text", options);
  CHECK(set.train == std::vector<std::int64_t>{0, 1, 2, 3, 4});
  CHECK(set.validation == std::vector<std::int64_t>{5, 6, 7, 8, 9});
  CHECK(set.test.front() == 10);
  CHECK(set.test.size() == 10);
}

TEST_CASE("the shipped text is the first volume of a novel") {
  const Dataset set = load_dataset("text", {});
  CHECK(set.features().shape() == Shape{(231161 - 1) / 64, 64});
  CHECK_THAT(text_of(set.batch(set.train, 0, 2).inputs.front()),
             Contains("It is a truth universally acknowledged"));
}

TEST_CASE("texts that make no rows are refused") {
  const Folder folder;
  const std::string path = folder.write("a.txt", std::string(30, 'x'));
  CHECK_THAT(message_of(Fault::file, [&] { load_dataset("text", windows_of(path, 3)); }),
             Contains("30 bytes") && Contains("max_token_len"));
  folder.write("b.txt", "");
  CHECK_THAT(message_of(Fault::file, [&] { load_dataset("text", windows_of(folder.text(), 3)); }),
             Contains("several .txt or .csv or .jsonl files"));
  CHECK_THAT(message_of(Fault::config,
                        [&] {
                          DataOptions options;
                          options.seed = 1;
                          load_dataset("text", options);
                        }),
             Contains("split_seed"));
  CHECK_THAT(message_of(Fault::config,
                        [&] {
                          const auto table =
                              folder.write("t.csv", "1,0\n2,1\n3,0\n4,1\n5,0\n6,1\n");
                          load_dataset("csv", windows_of(table, 3));
                        }),
             Contains("max_token_len"));
}

TEST_CASE("texts with classes are rows of bytes, and a mask says where they end") {
  const Folder folder;
  const std::string csv = "id,text,label\n",
                    lines = "{\"text\": \"a\\\"b,\", \"label\": \"yes\"}\n";
  const std::string path = folder.write(
      "t.csv", csv + "1,\"a\"\"b,\",yes\n2,\"x\ny\",no\n3,\xc3\xa9,yes\n4,abcdef,no\n5,z,no\n");
  const Dataset set = load_dataset("text", windows_of(path, 4));
  REQUIRE(set.inputs.size() == 2);
  CHECK(set.features().shape() == Shape{5, 4});
  CHECK(text_of(set.features()) == std::string("a\"b,x\ny\0\xc3\xa9\0\0abcdz\0\0\0", 20));
  CHECK(set.inputs[1].name == "attention_mask");
  const auto mask = set.inputs[1].values.span<std::int64_t>();
  CHECK(std::vector<std::int64_t>(mask.begin(), mask.end()) ==
        std::vector<std::int64_t>{1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0});
  CHECK(set.labels().task == "classification");
  CHECK(set.labels().class_names == std::vector<std::string>{"no", "yes"});
  folder.write("t.jsonl", lines +
                              "{\"label\": \"no\", \"text\": \"x\\ny\"}\n\n"
                              "{\"text\": \"\\u00e9\", \"label\": \"yes\", \"more\": [1]}\n"
                              "{\"text\": \"abcdef\", \"label\": \"no\"}\n"
                              "{\"text\": \"z\", \"label\": \"no\"}");
  CHECK(load_dataset("text", windows_of(folder / "t.jsonl", 4)).sha256 == set.sha256);
}

TEST_CASE("a model that has no argument for the mask gets none") {
  const Folder folder;
  const std::string path = folder.write("t.csv", "text,class\na,1\nb,2\nc,1\nd,2\ne,1\n");
  Dataset one = load_dataset("text", windows_of(path, 4)), two = one;
  one.follow({"tokens"});
  CHECK(one.inputs.size() == 1);
  two.follow({"input_ids", "attention_mask"});
  REQUIRE(two.inputs.size() == 2);
  CHECK(two.inputs[0].name == "input_ids");
  CHECK(two.inputs[1].name == "attention_mask");
}

TEST_CASE("classes have the numbers of the order that is given") {
  const Folder folder;
  DataOptions options =
      windows_of(folder.write("t.csv", "text,label\na,Yes\nb,no\nc,yes\nd,no\ne,Yes\n"), 4);
  const std::string sorted = load_dataset("text", options).sha256;
  options.classes.names = {"no,Yes,maybe,yes"};
  const Dataset set = load_dataset("text", options);
  CHECK(set.labels().class_names == std::vector<std::string>{"no", "Yes", "maybe", "yes"});
  const auto labels = set.labels().values.span<std::int64_t>();
  CHECK(std::vector<std::int64_t>(labels.begin(), labels.end()) ==
        std::vector<std::int64_t>{1, 0, 3, 0, 1});
  CHECK(set.sha256 != sorted);
  options.classes.names = {"no", "yes"};
  CHECK_THAT(message_of(Fault::config, [&] { load_dataset("text", options); }),
             Contains("--classes"));
  options.classes.names = {"Yes", "no", "yes", "no"};
  CHECK_THAT(message_of(Fault::config, [&] { load_dataset("text", options); }),
             Contains("names a class twice"));
}

TEST_CASE("names of classes may differ in upper and lower case") {
  CHECK(places_of({"neg", "Pos"}, {"POS", "NEG"}) == std::vector<std::int64_t>{1, 0});
  CHECK(places_of({"a", "A"}, {"A", "a"}) == std::vector<std::int64_t>{1, 0});
  CHECK(!places_of({"a"}, {"A", "A"}));
  CHECK(!places_of({"a", "A"}, {"A"}));
  CHECK(!places_of({"a"}, {"b"}));
}

TEST_CASE("texts may have no classes, and columns of other names") {
  const Folder folder;
  DataOptions options = windows_of(folder.write("t.jsonl",
                                                "{\"t\":\"a\"}\n{\"t\":\"b\"}\n{\"t\":\"c\"}\n"
                                                "{\"t\":\"d\"}\n{\"t\":\"e\"}\n"),
                                   4);
  CHECK_THAT(message_of(Fault::file, [&] { load_dataset("text", options); }),
             Contains("line 1: there is no key 'text'") && Contains("--text-column"));
  options.text_column = "t";
  CHECK(!load_dataset("text", options).has_labels());
  options.label_column.names = {"t"};
  CHECK(load_dataset("text", options).labels().classes() == 5);
}

TEST_CASE("tables and lines that are not texts with classes are refused with their place") {
  const Folder folder;
  const auto error = [&](const std::string& name, const std::string& bytes) {
    const std::string path = folder.write(name, bytes);
    return message_of(Fault::file, [&] { load_dataset("text", windows_of(path, 4)); });
  };
  CHECK_THAT(error("a.csv", "1,2\n3,4\n"), Contains("the first line must name the columns"));
  CHECK_THAT(error("a.csv", "review,label\nx,1\n"),
             Contains("--text-column") && Contains("review"));
  CHECK_THAT(error("a.csv", "text,label\nx,1\n,2\n"), Contains("line 3") && Contains("empty"));
  CHECK_THAT(error("a.csv", "text,label\nx,1\ny,\n"),
             Contains("line 3") && Contains("the class is missing"));
  CHECK_THAT(error("a.jsonl", "{\"text\": \"a\", \"label\": 1}\n{\"text\": \"a\"}"),
             Contains("line 2: there is no key 'label'"));
  CHECK_THAT(error("a.jsonl", "{\"text\": \"a\", \"label\": 1}\n{\"text\": 1.5, \"label\": 1}"),
             Contains("line 2: 'text' must be a string"));
  CHECK_THAT(error("a.jsonl", "\n[1]\n"), Contains("line 2 is not an object"));
  CHECK_THAT(error("a.jsonl", "\n{\"text\"\n"), Contains("line 2"));
  CHECK_THAT(error("a.jsonl", "\n"), Contains("the file is empty"));
}

TEST_CASE("a Parquet file is refused with what can be done") {
  const Folder folder;
  const std::string path = folder.write("t.parquet", "PAR1");
  for (const char* set : {"csv", "npy", "text"})
    for (const std::string& place : {path, folder.text()})
      CHECK_THAT(message_of(Fault::file, [&] { load_dataset(set, windows_of(place, 4)); }),
                 Contains("t.parquet") && Contains("to_csv"));
}
