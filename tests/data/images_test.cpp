// SPDX-License-Identifier: Apache-2.0
// Folders of images as rows.
#include <filesystem>
#include <set>

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

TEST_CASE("a part without a folder is taken from the images for training") {
  const Folder folder;
  for (int i = 0; i < 10; ++i) put(folder, "train/a/" + std::to_string(i) + ".png", grey_png("x"));
  for (int i = 0; i < 3; ++i) put(folder, "test/a/" + std::to_string(i) + ".png", grey_png("x"));
  DataOptions options = from(folder);
  options.validation_share = 0.2;
  const Dataset set = load_dataset("images", options);
  CHECK(set.test.size() == 3);
  CHECK(set.validation.size() == 2);
  CHECK(set.train.size() == 8);
  std::set<std::int64_t> rows(set.train.begin(), set.train.end());
  rows.insert(set.validation.begin(), set.validation.end());
  CHECK(rows.size() == 10);
  for (const std::int64_t row : set.test) CHECK_FALSE(rows.contains(row));
  CHECK(load_dataset("images", options).validation == set.validation);
  options.seed = 1;
  CHECK(load_dataset("images", options).validation != set.validation);
  options.test_share = 0.5;
  CHECK_THAT(message_of(Fault::config, [&] { load_dataset("images", options); }),
             Contains("test_share"));
  options.test_share.reset();
  options.validation_share = 0.99;
  CHECK_THAT(message_of(Fault::config, [&] { load_dataset("images", options); }),
             Contains("10 rows leave no row for training"));
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

TEST_CASE("a CSV file names images, classes and parts") {
  const Folder folder;
  for (const std::string name : {"a", "b", "c", "d"})
    put(folder, "pictures/" + name + ".png", grey_png(name));
  folder.write("labels.csv",
               "part,file,label\ntest,pictures/a.png,cat\ntrain,pictures/b.png,dog\n"
               "val,pictures/c.png,cat\ntrain,pictures/d.png,cat\n");
  const Dataset set = load_dataset("images", from(folder));
  CHECK(set.labels().class_names == std::vector<std::string>{"cat", "dog"});
  CHECK(set.train == std::vector<std::int64_t>{0, 1});
  CHECK(set.validation == std::vector<std::int64_t>{2});
  CHECK(set.test == std::vector<std::int64_t>{3});
  const auto labels = set.labels().values.span<std::int64_t>();
  CHECK(std::vector(labels.begin(), labels.end()) == std::vector<std::int64_t>{1, 0, 0, 0});
  const auto pixels = set.input().values.span<std::uint8_t>();
  CHECK(std::string(pixels.begin(), pixels.end()) == "bdca");
  DataOptions named = from(folder);
  named.data_dir += "/labels.csv";
  CHECK(load_dataset("images", named).sha256 == set.sha256);
}

TEST_CASE("a CSV file of images without columns, cells or files is refused") {
  const Folder folder;
  const auto refusal = [&](const std::string& table) {
    folder.write("labels.csv", table);
    return message_of(Fault::file, [&] { load_dataset("images", from(folder)); });
  };
  CHECK_THAT(refusal("name,label\na.png,cat\n"), Contains("no column 'file'"));
  CHECK_THAT(refusal("file,class\na.png,cat\n"), Contains("no column 'label'"));
  CHECK_THAT(refusal("file,label\na.png,\n"), Contains("line 2, column 'label' is empty"));
  CHECK_THAT(refusal("file,label,part\na.png,cat,training\n"),
             Contains("column 'part' is 'training'") && Contains("train, validation"));
  CHECK_THAT(refusal("file,label\na.png,cat\n"), Contains("none of 1 images") && Contains("a.png"));
}

TEST_CASE("images that cannot be read are named and counted, and left out only if asked") {
  const Folder folder;
  for (int i = 0; i < 20; ++i)
    put(folder, (i % 2 ? "a/" : "b/") + std::to_string(i) + ".png",
        grey_png({static_cast<char>(i)}));
  put(folder, "a/0.png", "no image");
  put(folder, "b/5.jpg", "\xff\xd8\xff short");
  DataOptions options = from(folder);
  CHECK_THAT(message_of(Fault::file, [&] { load_dataset("images", options); }),
             Contains("2 of 22 images cannot be read") && Contains("a/0.png: ") &&
                 Contains("b/5.jpg: ") && Contains("--skip-unreadable"));
  options.skip_unreadable = true;
  const Dataset set = load_dataset("images", options);
  CHECK(set.row_count() == 20);
  const auto pixels = set.input().values.span<std::uint8_t>();
  const auto labels = set.labels().values.span<std::int64_t>();
  for (std::size_t row = 0; row < 20; ++row) CHECK(labels[row] == (pixels[row] % 2 ? 0 : 1));
  put(folder, "c/0.png", "no image");
  CHECK_THAT(message_of(Fault::file, [&] { load_dataset("images", options); }),
             Contains("no image of class 'c' can be read"));
}

TEST_CASE("any number of threads decodes the same images") {
  const Folder folder;
  for (int i = 0; i < 100; ++i)
    put(folder, "a/" + std::to_string(i) + ".png", grey_png({static_cast<char>(i), 'x', 'y'}));
  put(folder, "b/1.png", grey_png("xyz"));
  DataOptions options = from(folder);
  options.num_workers = 1;
  const Dataset one = load_dataset("images", options);
  for (const int threads : {0, 2, 7}) {
    options.num_workers = threads;
    CHECK(load_dataset("images", options).sha256 == one.sha256);
  }
  put(folder, "a/50.png", grey_png("xy"));
  put(folder, "a/60.png", grey_png("xyzw"));
  // The files are in the order of their names, so that 50 is the first.
  CHECK_THAT(message_of(Fault::file, [&] { load_dataset("images", options); }),
             Contains("a/50.png: the image has 2x1 pixels"));
}

TEST_CASE("images that do not fit are decoded for each batch, to the same bytes and hash") {
  const Folder folder;
  for (int i = 0; i < 100; ++i)
    put(folder, std::string(1, static_cast<char>('a' + i % 3)) + "/" + std::to_string(i) + ".png",
        grey_png({static_cast<char>(i), 'x', 'y'}));
  put(folder, "a/broken.png", "no image");
  DataOptions options = from(folder);
  options.skip_unreadable = true;
  const Dataset kept = load_dataset("images", options);
  CHECK_FALSE(kept.has_source());
  options.image_memory = 0;
  for (const int threads : {1, 2, 7}) {
    options.num_workers = threads;
    const Dataset streamed = load_dataset("images", options);
    REQUIRE(streamed.has_source());
    CHECK(streamed.input().values.size() == 0);
    CHECK(streamed.row_count() == 100);
    CHECK(streamed.sha256 == kept.sha256);
    CHECK(streamed.features().same_bits(kept.features()));
    const Batch batch = streamed.batch(streamed.train, 3, 20), same = kept.batch(kept.train, 3, 20);
    CHECK(batch.inputs.front().same_bits(same.inputs.front()));
    CHECK(batch.targets.front().same_bits(same.targets.front()));
  }
}

TEST_CASE("an image that has changed since it was counted ends the batch with its name") {
  const Folder folder;
  for (int i = 0; i < 10; ++i) put(folder, "a/" + std::to_string(i) + ".png", grey_png("xyz"));
  put(folder, "b/1.png", grey_png("xyz"));
  DataOptions options = from(folder);
  options.image_memory = 0;
  const Dataset set = load_dataset("images", options);
  put(folder, "a/4.png", grey_png("xy"));
  const auto all = [&] { set.features(); };
  CHECK_THAT(message_of(Fault::file, all), Contains("a/4.png: the image has 2x1 pixels"));
  std::filesystem::remove(folder / "a/4.png");
  CHECK_THAT(message_of(Fault::file, all), Contains("a/4.png"));
}

TEST_CASE("image_memory is the number of MiB that decoded images may take") {
  const Folder folder;
  const std::string wide(1 << 14, 'x');  // 64 of them are 1 MiB
  for (int i = 0; i < 64; ++i) put(folder, "a/" + std::to_string(i) + ".png", grey_png(wide));
  DataOptions options = from(folder);
  options.image_memory = 1;
  CHECK_FALSE(load_dataset("images", options).has_source());
  options.image_memory = 0.999;
  CHECK(load_dataset("images", options).has_source());
}
