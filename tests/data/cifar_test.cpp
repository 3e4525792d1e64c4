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

TEST_CASE("the version of CIFAR for Python is told from the binary one") {
  const Folder folder;
  folder.write("test_batch", "");
  CHECK_THAT(message_of(Fault::file, [&] { load_dataset("cifar10", stored_in(folder)); }),
             Contains("test_batch: this is the version for Python") && Contains("binary version"));
}
