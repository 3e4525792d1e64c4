// SPDX-License-Identifier: Apache-2.0
// IDX files, good and bad; MNIST from the user's folder.
#include "data/idx.hpp"

#include "data/dataset.hpp"
#include "files.hpp"

using namespace mase;
using namespace mase::data;
using Catch::Contains;
using mase::test::big_endian;
using mase::test::Folder;
using mase::test::gzip;
using mase::test::message_of;

namespace {

std::string images(std::uint32_t count, std::size_t bytes) {
  return big_endian(0x803) + big_endian(count) + big_endian(2) + big_endian(2) +
         std::string(bytes, '\x33');
}
std::string labels(const std::string& values) {
  return big_endian(0x801) + big_endian(static_cast<std::uint32_t>(values.size())) + values;
}

std::string read_error(const std::string& bytes) {
  const Folder folder;
  return message_of(Fault::file, [&] { read_idx(folder.write("f", bytes), 3); });
}

}  // namespace

TEST_CASE("an IDX file reads the same plain and gzipped") {
  const Folder folder;
  const IdxFile plain = read_idx(folder.write("f", images(3, 12)), 3);
  const IdxFile zipped = read_idx(folder.write("f.gz", gzip(images(3, 12))), 3);
  CHECK(plain.shape == std::vector<std::int64_t>{3, 2, 2});
  CHECK(plain.bytes == std::string(12, '\x33'));
  CHECK(zipped.shape == plain.shape);
  CHECK(zipped.bytes == plain.bytes);
}

TEST_CASE("bad IDX files are refused") {
  CHECK_THAT(read_error(""), Contains("too short"));
  CHECK_THAT(read_error(images(3, 11)), Contains("truncated"));
  CHECK_THAT(read_error(images(3, 13)), Contains("more data"));
  CHECK_THAT(read_error(images(0, 0)), Contains("dimension is empty"));
  CHECK_THAT(read_error("hello, this is no IDX file"), Contains("not an IDX file"));
  CHECK_THAT(read_error(gzip(images(3, 11))), Contains("truncated"));
  CHECK_THAT(read_error(gzip(images(3, 12)).substr(0, 24)), Contains("f:"));
  CHECK_THAT(read_error(gzip("x")), Contains("too short"));
  std::string damaged = gzip(images(3, 12));
  damaged[12] ^= 0x55;
  CHECK_THAT(read_error(damaged), Contains("f:"));
}

TEST_CASE("a gzip bomb is not inflated beyond what its header says") {
  CHECK_THAT(read_error(gzip(images(3, 50'000'000))), Contains("more data"));
  CHECK_THAT(read_error(gzip(images(0xFFFFFFFF, 12))),
             Contains("more data than the file can hold"));
  // A file of this size could hold as much, packed.
  CHECK_THAT(read_error(gzip(images(400'000'000, 12)) + std::string(1'600'000, '\0')),
             Contains("1600000000 bytes, more than the limit of 1 GiB") && Contains("gunzip"));
}

TEST_CASE("mnist reads IDX files of the user's folder") {
  const Folder folder;
  DataOptions options;
  options.data_dir = folder.text();
  CHECK_THAT(message_of(Fault::file, [&] { load_dataset("mnist", options); }),
             Contains("train-images-idx3-ubyte"));
  folder.write("train-images-idx3-ubyte.gz", gzip(images(24, 96)));
  folder.write("train-labels-idx1-ubyte", labels(std::string(24, '\x09')));
  folder.write("t10k-images-idx3-ubyte", images(2, 8));
  folder.write("t10k-labels-idx1-ubyte.gz", gzip(labels({'\x01', '\x02'})));
  const Dataset set = load_dataset("mnist", options);
  CHECK(set.features().shape() == Shape{26, 1, 2, 2});
  CHECK(set.features().span<float>()[0] == 51.0f / 255.0f);
  CHECK(set.train.size() == 22);
  CHECK(set.validation == std::vector<std::int64_t>{22, 23});
  CHECK(set.test == std::vector<std::int64_t>{24, 25});
  folder.write("train-labels-idx1-ubyte", labels(std::string(24, '\x0A')));
  CHECK_THAT(message_of(Fault::file, [&] { load_dataset("mnist", options); }),
             Contains("label 10 of row 0 is out of range"));
  folder.write("train-labels-idx1-ubyte", labels(std::string(23, '\x09')));
  CHECK_THAT(message_of(Fault::file, [&] { load_dataset("mnist", options); }),
             Contains("23 labels for 24 images"));
}
