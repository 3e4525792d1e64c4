// SPDX-License-Identifier: Apache-2.0
// HDF5 files. Those of tests/fixtures/hdf5 are written by h5py 3.16: x[i][j] = (3 i + j) / 4 of 20
// rows, and class i % 2.
#include <catch2/catch.hpp>

#include "base/file.hpp"
#include "data/dataset.hpp"
#include "files.hpp"
#include "test_paths.hpp"

using namespace mase;
using namespace mase::data;
using Catch::Contains;
using mase::test::Folder;
using mase::test::message_of;

namespace {

const std::string hdf5_files = MASE_TEST_FOLDER "/fixtures/hdf5/";

Dataset load_file(const std::string& path) {
  DataOptions options;
  options.data_dir = path;
  return load_dataset("hdf5", options);
}

std::string refusal_of(const std::string& path) {
  return message_of(Fault::file, [&] { load_file(path); });
}

void check_quarters(const Array& values) {
  REQUIRE(values.shape() == Shape{20, 3});
  for (std::size_t i = 0; i < 60; ++i) CHECK(values.span<float>()[i] == float(i) / 4);
}

void check_labels(const Dataset& set) {
  for (std::size_t i = 0; i < 20; ++i)
    CHECK(set.labels().values.span<std::int64_t>()[i] == std::int64_t(i % 2));
}

}  // namespace

TEST_CASE("arrays of an HDF5 file are a data set, and stay in the file where they can") {
  const Dataset plain = load_file(hdf5_files + "plain.h5");
  check_quarters(plain.features());
  check_labels(plain);
  CHECK(plain.features().file());
}

TEST_CASE("arrays in packed pieces, of other types and byte orders are taken into memory") {
  const Dataset packed = load_file(hdf5_files + "packed.h5");
  check_quarters(packed.features());
  check_labels(packed);
  CHECK(!packed.features().file());
  const Dataset half = load_file(hdf5_files + "half.h5");
  REQUIRE(half.inputs.size() == 2);
  check_quarters(half.inputs[0].values);
  CHECK(half.inputs[1].name == "mask");
  CHECK(half.inputs[1].values.dtype() == DType::int64);
  CHECK(!half.has_labels());
}

TEST_CASE("what an HDF5 set cannot be is refused with its name") {
  CHECK_THAT(refusal_of(hdf5_files + "flags.h5"), Contains("flags.h5: x") && Contains("uint8"));
  CHECK_THAT(refusal_of(hdf5_files + "texts.h5"), Contains("not numbers"));
  CHECK_THAT(refusal_of(hdf5_files + "huge.h5"), Contains("not uint64"));
  CHECK_THAT(refusal_of(hdf5_files + "elsewhere.h5"), Contains("in other files"));
  CHECK_THAT(refusal_of(hdf5_files + "group.h5"), Contains("no array") && Contains("groups"));
  const Folder folder;
  CHECK_THAT(refusal_of(folder.write("a.h5", "no")), Contains("a.h5") && Contains("not an HDF5"));
  CHECK_THAT(refusal_of(folder / "gone.h5"), Contains("no such file"));
}

TEST_CASE("damaged HDF5 files load or are refused") {
  const Folder folder;
  for (const char* name : {"plain.h5", "packed.h5"}) {
    const std::string bytes = read_file(hdf5_files + name);
    int refused = 0;
    for (std::size_t kept = 0; kept < bytes.size(); kept += 97) {
      DataOptions options;
      options.data_dir = folder.write("a.h5", bytes.substr(0, kept));
      try {
        load_dataset("hdf5", options);
      } catch (const Error& error) {
        REQUIRE(error.fault() == Fault::file);
        ++refused;
      }
    }
    CHECK(refused > 10);
  }
}
