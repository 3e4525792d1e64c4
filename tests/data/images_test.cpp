// SPDX-License-Identifier: Apache-2.0
// Folders of images as rows.
#include <filesystem>

#include "data/dataset.hpp"
#include "files.hpp"

using namespace mase;
using namespace mase::data;
using Catch::Contains;
using mase::test::Folder;
using mase::test::message_of;

namespace {

/// A grey PNG of one row of pixels, by its definition.
std::string grey_png(const std::string& pixels) {
  const auto chunk = [](const std::string& kind_and_data) {
    const auto crc = crc32(0, reinterpret_cast<const Bytef*>(kind_and_data.data()),
                           static_cast<uInt>(kind_and_data.size()));
    return test::big_endian(static_cast<std::uint32_t>(kind_and_data.size() - 4)) + kind_and_data +
           test::big_endian(static_cast<std::uint32_t>(crc));
  };
  const std::string row = std::string(1, '\0') + pixels;  // filter 0: as it is
  std::string packed(compressBound(row.size()), '\0');
  uLongf size = packed.size();
  compress(reinterpret_cast<Bytef*>(packed.data()), &size,
           reinterpret_cast<const Bytef*>(row.data()), row.size());
  packed.resize(size);
  return "\x89PNG\r\n\x1a\n" +
         chunk("IHDR" + test::big_endian(static_cast<std::uint32_t>(pixels.size())) +
               test::big_endian(1) + std::string("\x08\0\0\0\0", 5)) +
         chunk("IDAT" + packed) + chunk("IEND");
}

/// Writes a file into a folder that may be new.
void put(const Folder& folder, const std::string& name, const std::string& bytes) {
  std::filesystem::create_directories(std::filesystem::path(folder / name).parent_path());
  folder.write(name, bytes);
}

DataOptions from(const Folder& folder) {
  DataOptions options;
  options.data_dir = folder.text();
  return options;
}

}  // namespace

TEST_CASE("folders of images are classes, sorted by name") {
  const Folder folder;
  for (int i = 0; i < 6; ++i) {
    put(folder, "b/" + std::to_string(i) + ".png", grey_png({'\xff', static_cast<char>(51 * i)}));
    put(folder, "a/inner/" + std::to_string(i) + ".PNG", grey_png({'\0', '\x33'}));
  }
  put(folder, "a/notes.txt", "no image");
  const Dataset set = load_dataset("images", from(folder));
  CHECK(set.labels().class_names == std::vector<std::string>{"a", "b"});
  CHECK(set.features().shape() == Shape{12, 1, 1, 2});
  CHECK(set.train.size() + set.validation.size() + set.test.size() == 12);
  const Array pixels = set.features();
  for (std::size_t row = 0; row < 12; ++row) {
    const bool is_b = row >= 6;
    CHECK(set.labels().values.span<std::int64_t>()[row] == is_b);
    CHECK(pixels.span<float>()[2 * row] == (is_b ? 1.0f : 0.0f));
    CHECK(pixels.span<float>()[2 * row + 1] ==
          (is_b ? static_cast<float>(51 * (row - 6)) / 255.0f : 0.2f));
  }
}

TEST_CASE("folders called train, val and test are the parts") {
  const Folder folder;
  for (const std::string part : {"test", "train", "val"})
    put(folder, part + "/b/1.png", grey_png("x"));
  put(folder, "train/a/1.png", grey_png("x"));
  const Dataset set = load_dataset("images", from(folder));
  CHECK(set.train == std::vector<std::int64_t>{0, 1});
  CHECK(set.validation == std::vector<std::int64_t>{2});
  CHECK(set.test == std::vector<std::int64_t>{3});
  const auto labels = set.labels().values.span<std::int64_t>();
  CHECK(std::vector(labels.begin(), labels.end()) == std::vector<std::int64_t>{0, 1, 1, 1});
  DataOptions shared = from(folder);
  shared.test_share = 0.5;
  CHECK_THAT(message_of(Fault::config, [&] { load_dataset("images", shared); }),
             Contains("test_share"));
  put(folder, "val/bb/1.png", grey_png("x"));
  CHECK_THAT(message_of(Fault::file, [&] { load_dataset("images", from(folder)); }),
             Contains("val/bb/1.png") && Contains("no images for training"));
}

TEST_CASE("folders that are no image data set are refused") {
  const Folder folder;
  CHECK_THAT(message_of(Fault::config, [] { load_dataset("images", {}); }), Contains("--data-dir"));
  const auto refusal = [&] {
    return message_of(Fault::file, [&] { load_dataset("images", from(folder)); });
  };
  CHECK_THAT(refusal(), Contains("FOLDER/CLASS/*.png"));
  put(folder, "a/1.png", grey_png("xy"));
  for (int i = 2; i < 9; ++i) put(folder, "a/" + std::to_string(i) + ".png", grey_png("xyz"));
  CHECK_THAT(refusal(), Contains("a/2.png: the image has 3x1 pixels in grey, but ") &&
                            Contains("a/1.png has 2x1 pixels in grey") && Contains("--image-size"));
  put(folder, "b/notes.txt", "");
  CHECK_THAT(refusal(), Contains("/b: this class has no image"));
}
