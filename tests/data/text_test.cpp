// SPDX-License-Identifier: Apache-2.0
// Texts as rows of token ids.
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
             Contains("several .txt files"));
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
