// SPDX-License-Identifier: Apache-2.0
// CIFAR in its binary version, from made files.
#include "data/dataset.hpp"
#include "files.hpp"

using namespace mase;
using namespace mase::data;
using Catch::Contains;
using mase::test::Folder;
using mase::test::message_of;

namespace {

/// A record whose planes red, green and blue have one value each; `label` is one byte or two.
std::string record(const std::string& label, char red, char green, char blue) {
  return label + std::string(1024, red) + std::string(1024, green) + std::string(1024, blue);
}

std::string names(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "class " + std::to_string(i) + "\n";
  return text + "\n";
}

DataOptions stored_in(const Folder& folder) {
  DataOptions options;
  options.data_dir = folder.text();
  return options;
}

}  // namespace

TEST_CASE("cifar10 is five files for training and one for test") {
  const Folder folder;
  folder.write("batches.meta.txt", names(10));
  for (char i = 1; i <= 5; ++i)
    folder.write("data_batch_" + std::to_string(i) + ".bin",
                 record({i}, '\xff', '\0', i) + record({'\0'}, '\0', '\0', '\0'));
  folder.write("test_batch.bin", record({'\t'}, '\0', '\x33', '\0'));
  const Dataset set = load_dataset("cifar10", stored_in(folder));
  CHECK(set.features().shape() == Shape{11, 3, 32, 32});
  CHECK(set.train == std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(set.validation == std::vector<std::int64_t>{9});
  CHECK(set.test == std::vector<std::int64_t>{10});
  CHECK(set.labels().class_names[9] == "class 9");
  const auto labels = set.labels().values.span<std::int64_t>();
  CHECK(std::vector(labels.begin(), labels.end()) ==
        std::vector<std::int64_t>{1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 9});
  const Array features = set.features();
  const auto pixels = features.span<float>();
  CHECK(pixels[4 * 3072] == 1.0f);                  // red of row 4
  CHECK(pixels[4 * 3072 + 1024] == 0.0f);           // its green
  CHECK(pixels[4 * 3072 + 3071] == 3.0f / 255.0f);  // its blue
  CHECK(pixels[10 * 3072 + 1024] == 0.2f);          // green of the test's row
  folder.write("test_batch.bin", record({'\n'}, '\0', '\0', '\0'));
  CHECK_THAT(message_of(Fault::file, [&] { load_dataset("cifar10", stored_in(folder)); }),
             Contains("label 10 of row 10"));
  folder.write("test_batch.bin", "short");
  CHECK_THAT(message_of(Fault::file, [&] { load_dataset("cifar10", stored_in(folder)); }),
             Contains("test_batch.bin: 5 bytes") && Contains("3073"));
  CHECK_THAT(message_of(Fault::config, [] { load_dataset("cifar10", {}); }),
             Contains("--data-dir"));
}

TEST_CASE("the class of cifar100 is the second byte") {
  const Folder folder;
  folder.write("fine_label_names.txt", names(100));
  folder.write("train.bin", record("\x13\x63", '\1', '\2', '\3'));
  folder.write("test.bin", record("\x01\x07", '\1', '\2', '\3'));
  const Dataset set = load_dataset("cifar100", stored_in(folder));
  CHECK(set.labels().classes() == 100);
  CHECK(set.labels().values.span<std::int64_t>()[0] == 99);
  CHECK(set.labels().values.span<std::int64_t>()[1] == 7);
  folder.write("fine_label_names.txt", names(20));
  CHECK_THAT(message_of(Fault::file, [&] { load_dataset("cifar100", stored_in(folder)); }),
             Contains("20 names of classes; there are 100"));
}

namespace {

std::string little_endian(std::size_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xFF);
  return text;
}

/// A string as Python 2 pickles it: with one byte for its length, or with four.
std::string short_string(const std::string& text) {
  return "U" + little_endian(text.size(), 1) + text;
}
std::string long_string(const std::string& text) {
  return "T" + little_endian(text.size(), 4) + text;
}
std::string number(std::size_t value) { return "M" + little_endian(value, 2); }

/// Bytes as Python 3 pickles them with protocol 2: a text of these characters, and its encoding.
std::string encoded(const std::string& bytes) {
  const auto text = [](const std::string& utf8) {
    return "X" + little_endian(utf8.size(), 4) + utf8;
  };
  std::string utf8;
  for (const char byte : bytes) {
    const auto code = static_cast<unsigned char>(byte);
    if (code >= 0x80) utf8 += static_cast<char>(0xC0 | code >> 6);
    utf8 += static_cast<char>(code < 0x80 ? code : 0x80 | (code & 0x3F));
  }
  return "c_codecs\nencode\n" + text(utf8) + text("latin1") + "\x86R";
}

/// An array of bytes as numpy pickles it under Python 2, with protocol 2.
std::string pickled_array(const std::string& bytes, std::size_t rows, bool by_column = false,
                          const std::string& type = "u1", bool is_encoded = false) {
  return "cnumpy.core.multiarray\n_reconstruct\nq\1cnumpy\nndarray\nq\2K" + std::string(1, '\0') +
         "\x85" + short_string("b") + "\x87Rq\3(K\1" + number(rows) + number(3072) +
         "\x86"
         "cnumpy\ndtype\nq\4" +
         short_string(type) + "K" + std::string(1, '\0') + "K\1\x87Rq\5(K\3" + short_string("|") +
         "NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK" + std::string(1, '\0') + "tb" +
         (by_column ? "\x88" : "\x89") + (is_encoded ? encoded(bytes) : long_string(bytes)) + "tb";
}

/// A file of images: {"batch_label": "...", "labels": [...], "data": ...}.
std::string batch(const std::string& array, const std::string& labels,
                  const std::string& key = "labels") {
  std::string list = "](";
  for (const char label : labels) list += "K" + std::string(1, label);
  return "\x80\2}q" + std::string(1, '\0') + "(" + short_string("batch_label") +
         short_string("batch 1 of 1") + short_string(key) + list + "e" + short_string("data") +
         array + "u.";
}

std::string pickled_names(const std::string& key, int count) {
  std::string list = "](";
  for (int i = 0; i < count; ++i) list += short_string("class " + std::to_string(i));
  return "\x80\2}" + short_string(key) + list + "es.";
}

/// Rows in which every pixel is other than its neighbours.
std::string pixels_of(std::size_t rows) {
  std::string bytes(rows * 3072, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7 % 251);
  return bytes;
}

/// The bytes of [3072, rows].
std::string transposed(const std::string& bytes, std::size_t rows) {
  std::string out;
  for (std::size_t i = 0; i < 3072; ++i)
    for (std::size_t row = 0; row < rows; ++row) out += bytes[row * 3072 + i];
  return out;
}

}  // namespace

TEST_CASE("the version of cifar10 for Python has the rows of the binary one") {
  const Folder binary, python, by_column, python3;
  const std::string pixels = pixels_of(2);
  binary.write("batches.meta.txt", names(10));
  for (const auto* folder : {&python, &by_column, &python3})
    folder->write("batches.meta", pickled_names("label_names", 10));
  for (const std::string file : {"data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4",
                                 "data_batch_5", "test_batch"}) {
    binary.write(file + ".bin", "\3" + pixels.substr(0, 3072) + "\x9" + pixels.substr(3072));
    python.write(file, batch(pickled_array(pixels, 2), "\3\x9"));
    python3.write(file, batch(pickled_array(pixels, 2, false, "u1", true), "\3\x9"));
    by_column.write(file, batch(pickled_array(transposed(pixels, 2), 2, true), "\3\x9"));
  }
  const Dataset set = load_dataset("cifar10", stored_in(python));
  CHECK(set.labels().class_names[9] == "class 9");
  CHECK(set.test == std::vector<std::int64_t>{10, 11});
  CHECK(set.sha256 == load_dataset("cifar10", stored_in(binary)).sha256);
  CHECK(load_dataset("cifar10", stored_in(by_column)).sha256 == set.sha256);
  CHECK(load_dataset("cifar10", stored_in(python3)).sha256 == set.sha256);
}

TEST_CASE("the version of cifar100 for Python has its fine classes") {
  const Folder folder;
  folder.write("meta", pickled_names("fine_label_names", 100));
  folder.write("train", batch(pickled_array(pixels_of(1), 1), "\x63", "fine_labels"));
  folder.write("test", batch(pickled_array(pixels_of(1), 1), "\7", "fine_labels"));
  const Dataset set = load_dataset("cifar100", stored_in(folder));
  CHECK(set.labels().values.span<std::int64_t>()[0] == 99);
  CHECK(set.labels().values.span<std::int64_t>()[1] == 7);
}

TEST_CASE("pickled files of CIFAR run nothing, and say what is wrong with them") {
  const Folder folder;
  folder.write("meta", pickled_names("fine_label_names", 100));
  const auto said = [&](Fault fault, const std::string& bytes) {
    folder.write("train", bytes);
    folder.write("test", batch(pickled_array(pixels_of(1), 1), "\7", "fine_labels"));
    return message_of(fault, [&] { load_dataset("cifar100", stored_in(folder)); });
  };
  CHECK_THAT(said(Fault::file,
                  "\x80\2"
                  "cposix\nsystem\n" +
                      short_string("echo") + "\x85R."),
             Contains("train: ") && Contains("it calls 'posix system', which is refused"));
  const std::string array = pickled_array(pixels_of(1), 1);
  CHECK_THAT(said(Fault::file, batch(array, "\1")), Contains("there is no list 'fine_labels'"));
  CHECK_THAT(said(Fault::file, batch(array, "\1\2", "fine_labels")),
             Contains("[1, 3072] for 2 labels"));
  CHECK_THAT(said(Fault::file, batch(pickled_array("short", 1), "\1", "fine_labels")),
             Contains("an array of shape [1, 3072] has 5 bytes"));
  CHECK_THAT(said(Fault::unsupported,
                  batch(pickled_array(pixels_of(1), 1, false, "f4"), "\1", "fine_labels")),
             Contains("numbers of type 'f4'"));
  CHECK_THAT(said(Fault::file, ""), Contains("train: damaged"));
}
