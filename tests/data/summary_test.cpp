// SPDX-License-Identifier: Apache-2.0
// Ranges, counts and samples of data sets.
#include "data/summary.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "support/message_of.hpp"

using namespace mase;
using namespace mase::data;
using Catch::Contains;
using mase::test::message_of;

namespace {

/// A set of 2 x 2 grey images; row i has the values i, i, i, i + 1 and the class i % classes.
Dataset made_images(std::int64_t rows, std::int64_t classes) {
  Dataset set;
  set.name = "made";
  Array x(DType::float32, {rows, 1, 2, 2}), y(DType::int64, {rows});
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t i = 0; i < 4; ++i)
      x.mutable_span<float>()[static_cast<std::size_t>(4 * row + i)] =
          static_cast<float>(row + (i == 3 ? 1 : 0));
    y.mutable_span<std::int64_t>()[static_cast<std::size_t>(row)] = row % classes;
    set.train.push_back(row);
  }
  set.inputs = {{"x", x}};
  set.targets = {{"y", "classification", y, {}}};
  for (std::int64_t i = 0; i < classes; ++i)
    set.targets.front().class_names.push_back(std::to_string(i));
  return set;
}

}  // namespace

TEST_CASE("the range of numbers 0 .. n - 1 is known, also over more than one piece") {
  const std::int64_t n = 5'000'000;
  Array values(DType::int64, {n});
  std::iota(values.mutable_span<std::int64_t>().begin(), values.mutable_span<std::int64_t>().end(),
            0);
  const Range range = range_of(values);
  CHECK(range.least == 0);
  CHECK(range.greatest == double(n - 1));
  // (n - 1) / 2 and the root of (n^2 - 1) / 12; sums in double lose a few of 53 bits.
  CHECK(range.mean == Approx(double(n - 1) / 2).epsilon(1e-12));
  CHECK(range.deviation == Approx(std::sqrt((double(n) * double(n) - 1) / 12)).epsilon(1e-12));
  const Range bytes = range_of(Array::from(std::vector<std::uint8_t>{1, 3}, {2}));
  CHECK(bytes.mean == 2);
  CHECK(bytes.deviation == 1);
}

TEST_CASE("labels are counted by class, and by position where rows have several") {
  const Dataset set = made_images(7, 3);
  CHECK(count_classes(set.labels(), {0, 1, 2, 3, 6}) == std::vector<std::int64_t>{3, 1, 1});
  const Target target{
      "y", "next_token", Array::from(std::vector<std::int64_t>{0, 1, 1, 1}, {2, 2}), {"a", "b"}};
  CHECK(count_classes(target, {1}) == std::vector<std::int64_t>{0, 2});
}

TEST_CASE("samples have every class once before one comes twice") {
  Dataset set = made_images(12, 3);
  set.train = {2, 5, 8, 0, 3, 1};
  CHECK(sample_rows(set, 4) == std::vector<std::int64_t>{0, 1, 2, 3});
  CHECK(sample_rows(set, 99) == std::vector<std::int64_t>{0, 1, 2, 3, 5, 8});
  set.targets.clear();
  CHECK(sample_rows(set, 2) == std::vector<std::int64_t>{2, 5});
}

TEST_CASE("a picture has four samples in a line, from its least value to its greatest") {
  const Dataset set = made_images(6, 2);
  const SamplePicture picture = picture_of(image_input(set), {0, 1, 2, 3, 5});
  CHECK(picture.black == 0);
  CHECK(picture.white == 6);
  // A pixel is shown as 64 x 64, and two white pixels lie between images.
  CHECK(picture.image.width == 4 * 128 + 3 * 2);
  CHECK(picture.image.height == 2 * 128 + 2);
  const auto pixel = [&](std::int64_t y, std::int64_t x) {
    return int{picture.image.pixels[static_cast<std::size_t>(y * picture.image.width + x)]};
  };
  CHECK(pixel(0, 0) == 0);
  CHECK(pixel(0, 130) == 43);   // 255 / 6 = 42.5, rounded away from zero
  CHECK(pixel(130, 0) == 213);  // 5 of 6
  CHECK(pixel(130 + 64, 64) == 255);
  CHECK(pixel(0, 128) == 255);    // the gap
  CHECK(pixel(200, 200) == 255);  // no image
}

TEST_CASE("a picture is read back as it was written") {
  const Dataset set = made_images(6, 2);
  Image image = picture_of(image_input(set), {0, 5}).image;
  CHECK(decode_image(encode_png(image), "grey").pixels == image.pixels);
  image.channels = 3;
  image.width = 2;
  image.height = 1;
  image.pixels = {255, 0, 0, 1, 2, 3};
  const Image back = decode_image(encode_png(image), "colours");
  CHECK(back.pixels == image.pixels);
  CHECK(back.channels == 3);
}

TEST_CASE("arrays that are not images are named with what would make them images") {
  Dataset set = made_images(4, 2);
  const auto error = [&](Shape shape) {
    set.inputs.front().values = Array(DType::float32, std::move(shape));
    return message_of(Fault::config, [&] { image_input(set); });
  };
  CHECK_THAT(error({4, 16}), Contains("x has shape [4, 16]") && Contains("leave out the picture"));
  CHECK_THAT(error({4, 8, 8, 3}), Contains("x.transpose(0, 3, 1, 2)"));
  CHECK_THAT(error({4, 8, 8}), Contains("x[:, None]"));
}
