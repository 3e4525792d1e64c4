// SPDX-License-Identifier: Apache-2.0
// Pixels are bytes in memory and the numbers of torchvision in batches.
#include <filesystem>
#include <numeric>

#include "base/file.hpp"
#include "base/npy.hpp"
#include "data/dataset.hpp"
#include "files.hpp"

using namespace mase;
using namespace mase::data;
using Catch::Contains;
using mase::test::Folder;
using mase::test::message_of;

namespace {

DataOptions in(const Folder& folder) {
  DataOptions options;
  options.data_dir = folder.text();
  return options;
}

/// Ten rows that each have all 256 bytes in each of the channels, and labels.
void write_bytes(const Folder& folder, std::int64_t channels) {
  Array x(DType::uint8, {10, channels, 1, 256});
  auto values = x.mutable_span<std::uint8_t>();
  std::iota(values.begin(), values.end(), std::uint8_t{0});
  write_npy(folder / "x.npy", x);
  write_npy(folder / "y.npy", Array::from(std::vector<std::int64_t>(10, 1), {10}));
}

Array first_row(const DataOptions& options) {
  const Dataset set = load_dataset("npy", options);
  CHECK(set.input().values.dtype() == DType::uint8);
  return set.batch(set.train, 0, 1).inputs.front();
}

std::string hash_of(const Array& array) {
  return sha256({reinterpret_cast<const char*>(array.bytes()), array.byte_size()});
}

}  // namespace

TEST_CASE("pixels are scaled and normalised as torchvision does, bit by bit") {
  // The hashes of ToTensor and Normalize of torchvision 0.28 for an image of all bytes.
  const Folder grey, colour;
  write_bytes(grey, 1);
  DataOptions options = in(grey);
  options.pixel_mean = {{0.1307}};
  options.pixel_std = {{0.3081}};
  CHECK(hash_of(first_row(options)) ==
        "0103dbab6b16bfcaea0aa75d7377b4b22bb6792081600921bee4a17ff9c4d33e");
  write_bytes(colour, 3);
  options = in(colour);
  options.pixel_mean = {{0.485, 0.456, 0.406}};
  options.pixel_std = {{0.229, 0.224, 0.225}};
  const Array row = first_row(options);
  CHECK(row.shape() == Shape{1, 3, 1, 256});
  CHECK(hash_of(row) == "1d8b9af12b7b391827f7c801265239e21435c7e29b4d78c6189a35e437633897");
  CHECK(row.span<float>()[77] == -0x1.993d920000000p-1f);
}

TEST_CASE("pixels without mean and deviation are numbers from 0 to 1, or as they are in npy") {
  const Folder folder;
  write_bytes(folder, 2);
  DataOptions options = in(folder);
  const Array plain = first_row(options);
  options.pixel_scale = 1.0 / 255.0;
  const Array scaled = first_row(options);
  for (std::size_t i = 0; i < 512; ++i) {
    const auto byte = static_cast<float>(i % 256);
    CHECK(plain.span<float>()[i] == byte);
    CHECK(scaled.span<float>()[i] == byte / 255.0f);
  }
  const Dataset set = load_dataset("npy", options);
  CHECK(set.features().shape() == Shape{10, 2, 1, 256});
  CHECK(set.features().span<float>()[512 + 51] == 0.2f);
  CHECK(set.sha256 != load_dataset("npy", in(folder)).sha256);
}

TEST_CASE("pixels keep their numbers when inputs follow a model's arguments") {
  const Folder folder;
  write_bytes(folder, 1);
  std::filesystem::rename(folder / "x.npy", folder / "x_1.npy");
  write_npy(folder / "x_0.npy", Array::from(std::vector<std::uint8_t>(20, 1), {10, 2}));
  DataOptions options = in(folder);
  options.pixel_scale = 2.0;
  Dataset set = load_dataset("npy", options);
  set.follow({"flags", "image"});
  const Batch batch = set.batch(set.train, 0, 1);
  CHECK(batch.inputs[0].span<float>()[0] == 1.0f);  // flags are no pixels
  CHECK(batch.inputs[1].span<float>()[3] == 6.0f);
}

TEST_CASE("options of pixels that do not fit are refused") {
  const Folder folder;
  write_bytes(folder, 3);
  const auto refusal = [&](const DataOptions& options) {
    return message_of(Fault::config, [&] { load_dataset("npy", options); });
  };
  DataOptions options = in(folder);
  options.pixel_mean = {{0.5, 0.5}};
  CHECK_THAT(refusal(options), Contains("x.npy: pixel_mean has 2 numbers") &&
                                   Contains("[10, 3, 1, 256] have 3 channels"));
  options.pixel_mean = {};
  options.pixel_std = {{0.5, 0.0, 1.0}};
  CHECK_THAT(refusal(options), Contains("pixel_std has 0") && Contains("above 0"));
  options.pixel_std = {{1e-60}};
  CHECK_THAT(refusal(options), Contains("must be finite"));
  options.pixel_std = {{0.5}};
  write_npy(folder / "x.npy", Array(DType::float32, {10, 3}));
  CHECK_THAT(refusal(options),
             Contains("pixel_std: only uint8 pixels") && Contains("x.npy is float32"));
  options.data_dir = "";
  CHECK_THAT(message_of(Fault::config, [&] { load_dataset("toy-tiny", options); }),
             Contains("does not use option 'pixel_std'"));
}
