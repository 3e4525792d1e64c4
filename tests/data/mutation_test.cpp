// SPDX-License-Identifier: Apache-2.0
// Damaged files: every one either loads or is refused with an Error, never anything else.
#include "base/random.hpp"
#include "data/dataset.hpp"
#include "files.hpp"
#include "support/make_zip.hpp"

using namespace mase;
using namespace mase::data;
using mase::test::big_endian;
using mase::test::Folder;
using mase::test::gzip;

namespace {

/// Flips bytes, cuts the end off or doubles a piece.
std::string mutated(std::string bytes, Random& random) {
  const auto place = [&] { return static_cast<std::size_t>(random.below(bytes.size())); };
  switch (random.below(3)) {
    case 0:
      for (int i = 0; i < 3; ++i) bytes[place()] ^= static_cast<char>(1 + random.below(255));
      break;
    case 1:
      bytes.resize(place());
      break;
    default:
      bytes.insert(place(), bytes.substr(place(), 16));
      break;
  }
  return bytes;
}

/// Returns how many of `count` mutations of the file were refused.
int refused(const Folder& folder, const std::string& file, const std::string& bytes,
            const std::string& dataset, int count) {
  Random random(3);
  DataOptions options;
  options.data_dir = folder.text();
  int errors = 0;
  for (int i = 0; i < count; ++i) {
    folder.write(file, mutated(bytes, random));
    try {
      load_dataset(dataset, options);
    } catch (const Error& error) {
      ++errors;
      CHECK(std::string(error.what()).size() > 10);
      CHECK((error.fault() == Fault::file || error.fault() == Fault::config));
    }
  }
  folder.write(file, bytes);
  return errors;
}

std::string file_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("damaged csv files load or are refused") {
  const Folder folder;
  std::string text = "a,b,class\n";
  for (int i = 0; i < 30; ++i)
    text += std::to_string(i * 0.5) + ",1e-3,x" + std::to_string(i % 3) + "\n";
  CHECK(refused(folder, "t.csv", text, "csv", 150) > 20);
}

TEST_CASE("damaged npy files load or are refused") {
  const Folder folder;
  write_npy(folder / "x.npy", Array(DType::float32, {20, 3}));
  write_npy(folder / "y.npy", Array(DType::uint8, {20}));
  const std::string x = file_bytes(folder / "x.npy"), y = file_bytes(folder / "y.npy");
  CHECK(refused(folder, "x.npy", x, "npy", 150) > 50);
  CHECK(refused(folder, "y.npy", y, "npy", 150) > 50);
}

TEST_CASE("damaged npz archives load or are refused") {
  const Folder folder, files;
  write_npy(files / "x.npy", Array(DType::int64, {20, 3}));
  write_npy(files / "y.npy", Array(DType::uint8, {20}));
  const std::string bytes = test_zip::zip_of(
      {{"x.npy", file_bytes(files / "x.npy")}, {"y.npy", file_bytes(files / "y.npy")}});
  CHECK(refused(folder, "rows.npz", bytes, "npy", 150) > 100);
}

TEST_CASE("damaged IDX files load or are refused") {
  const Folder folder;
  const auto images = [](std::uint32_t count) {
    return big_endian(0x803) + big_endian(count) + big_endian(2) + big_endian(2) +
           std::string(4 * count, '\x33');
  };
  const std::string labels = big_endian(0x801) + big_endian(24) + std::string(24, '\x03');
  folder.write("train-images-idx3-ubyte", images(24));
  folder.write("train-labels-idx1-ubyte", labels);
  folder.write("t10k-images-idx3-ubyte.gz", gzip(images(24)));
  folder.write("t10k-labels-idx1-ubyte", labels);
  CHECK(refused(folder, "train-images-idx3-ubyte", images(24), "mnist", 100) > 40);
  CHECK(refused(folder, "t10k-images-idx3-ubyte.gz", gzip(images(24)), "mnist", 100) > 60);
}
