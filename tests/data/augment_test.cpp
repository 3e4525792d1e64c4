// SPDX-License-Identifier: Apache-2.0
// Changes of training images. Numbers beside an operation are torchvision's for the same uint8
// tensor: pad and crop, hflip, adjust_brightness, adjust_contrast and adjust_saturation.
#include "data/augment.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "data/dataset.hpp"
#include "files.hpp"

using namespace mase;
using namespace mase::data;
using Catch::Contains;
using mase::test::message_of;

namespace {

using Bytes = std::vector<std::uint8_t>;

/// The bytes after a change of an image of 3 x 2 x 4 (or fewer channels), (37 i + 11) mod 256.
template <class Change>
Bytes changed(Change change, std::int64_t channels = 3) {
  Bytes bytes;
  for (int i = 0; i < 8 * channels; ++i) bytes.push_back(static_cast<std::uint8_t>(i * 37 + 11));
  change(ImageBytes{channels, 2, 4, bytes});
  return bytes;
}

/// Rows of images whose bytes count up from the row's number, with classes.
Dataset counted_images(std::int64_t rows, Shape image) {
  Dataset set;
  set.name = "counted";
  Shape shape{rows};
  shape.insert(shape.end(), image.begin(), image.end());
  Array values(DType::uint8, shape);
  auto bytes = values.mutable_span<std::uint8_t>();
  const std::size_t size = bytes.size() / static_cast<std::size_t>(rows);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::uint8_t>(1 + i / size + i % size);
  set.inputs = {{"x", values}};
  set.targets = {{"y", "classification", Array(DType::int64, {rows}), {"a", "b"}}};
  for (std::int64_t row = 0; row < rows; ++row) set.train.push_back(row);
  return set;
}

/// The rows of a set as they are in one epoch, gathered so many at a time.
std::vector<float> epoch_of(const Dataset& set, const AugmentOptions& options, std::int64_t epoch,
                            std::int64_t batch, std::uint64_t seed = 0) {
  Augmenter augmenter(options, set, seed);
  augmenter.begin(epoch);
  const auto size = static_cast<std::size_t>(numel(set.sample_shape()));
  std::vector<float> all(set.train.size() * size);
  for (std::size_t first = 0; first < set.train.size();) {
    const std::size_t count = std::min(static_cast<std::size_t>(batch), set.train.size() - first);
    set.input().gather(std::span(set.train).subspan(first, count),
                       reinterpret_cast<std::byte*>(all.data() + first * size), &augmenter);
    first += count;
  }
  return all;
}

AugmentOptions everything() {
  AugmentOptions options;
  options.flip = 0.5;
  options.crop = 2;
  options.brightness = options.contrast = options.saturation = 0.3;
  options.hue = 0.2;
  options.cutout = 3;
  return options;
}

}  // namespace

TEST_CASE("images are mirrored and moved as torchvision does") {
  CHECK(changed(mirror) == Bytes{122, 85, 48,  11,  14,  233, 196, 159, 162, 125, 88, 51,
                                 54,  17, 236, 199, 202, 165, 128, 91,  94,  57,  20, 239});
  CHECK(changed([](const ImageBytes& image) { shift(image, -1, 2); }) ==
        Bytes{0, 0, 0, 0, 85, 122, 0, 0, 0, 0, 0, 0, 125, 162, 0, 0, 0, 0, 0, 0, 165, 202, 0, 0});
  CHECK(
      changed([](const ImageBytes& image) { shift(image, -1, 1); }) ==
      Bytes{0, 0, 0, 0, 48, 85, 122, 0, 0, 0, 0, 0, 88, 125, 162, 0, 0, 0, 0, 0, 128, 165, 202, 0});
  for (const std::int64_t far : {-9, -4, 4, 9})
    CHECK(changed([&](const ImageBytes& image) { shift(image, 0, far); }) == Bytes(24, 0));
}

TEST_CASE("colours are changed as torchvision does") {
  const auto brightness = [](double factor) {
    return changed([&](const ImageBytes& image) { adjust_brightness(image, factor); });
  };
  CHECK(brightness(0.4) == Bytes{4,  19, 34, 48, 63, 78, 93, 5,  20, 35, 50, 64,
                                 79, 94, 6,  21, 36, 51, 66, 80, 95, 8,  22, 37});
  CHECK(brightness(1.7) == Bytes{18,  81,  144, 207, 255, 255, 255, 23,  86,  149, 212, 255,
                                 255, 255, 28,  91,  154, 217, 255, 255, 255, 34,  96,  159});
  const auto contrast = [](double factor, std::int64_t channels) {
    return changed([&](const ImageBytes& image) { adjust_contrast(image, factor); }, channels);
  };
  CHECK(contrast(0.4, 3) == Bytes{73,  87,  102, 117, 132, 147, 161, 74,  89,  103, 118, 133,
                                  148, 163, 75,  90,  105, 119, 134, 149, 164, 76,  91,  106});
  CHECK(contrast(1.7, 3) == Bytes{0,   1,   64, 127, 190, 253, 255, 0,   6,   69, 132, 195,
                                  255, 255, 0,  11,  74,  137, 200, 255, 255, 0,  16,  79});
  CHECK(contrast(1.7, 1) == Bytes{0, 5, 68, 131, 194, 255, 255, 0});
  const auto saturation = [](double factor, std::int64_t channels) {
    return changed([&](const ImageBytes& image) { adjust_saturation(image, factor); }, channels);
  };
  CHECK(saturation(0.4, 3) == Bytes{30,  67,  104, 141, 178, 197, 144, 33,  46,  83,  120, 157,
                                    194, 213, 58,  49,  62,  99,  136, 173, 210, 127, 74,  65});
  CHECK(saturation(1.7, 3) == Bytes{0,   25,  62, 99, 136, 193, 255, 0,   56,  93, 130, 167,
                                    204, 255, 0,  59, 124, 161, 198, 235, 255, 0,  36,  127});
  CHECK(saturation(1.7, 1) == changed([](const ImageBytes&) {}, 1));
}

TEST_CASE("hues turn around the circle of colours") {
  // A circle of six: red, yellow, green, cyan, blue, magenta; then grey, white and black.
  const Bytes red{255, 255, 0, 0, 0, 255, 99, 255, 0}, green{0, 255, 255, 255, 0, 0, 99, 255, 0},
      blue{0, 0, 0, 255, 255, 255, 99, 255, 0};
  const auto turned_by = [&](double turn) {
    Bytes bytes = red;
    bytes.insert(bytes.end(), green.begin(), green.end());
    bytes.insert(bytes.end(), blue.begin(), blue.end());
    adjust_hue({3, 1, 9, bytes}, turn);
    return bytes;
  };
  for (int sixths = -3; sixths <= 3; ++sixths) {
    const Bytes bytes = turned_by(sixths / 6.0);
    for (std::size_t i = 0; i < 9; ++i) {
      const std::size_t from = i < 6 ? (i + static_cast<std::size_t>(sixths + 6)) % 6 : i;
      CAPTURE(sixths, i);
      // Sixths are not exact in float32, which may cost one of 255.
      CHECK(std::abs(bytes[i] - red[from]) <= 1);
      CHECK(std::abs(bytes[9 + i] - green[from]) <= 1);
      CHECK(std::abs(bytes[18 + i] - blue[from]) <= 1);
    }
  }
  Bytes all;
  for (int red_value = 0; red_value < 256; red_value += 5)
    for (int green_value = 0; green_value < 256; green_value += 3)
      for (const int value : {red_value, green_value, 77})
        all.push_back(static_cast<std::uint8_t>(value));
  for (std::size_t at = 0; at < all.size(); at += 3) {
    Bytes pixel(all.begin() + static_cast<std::ptrdiff_t>(at),
                all.begin() + static_cast<std::ptrdiff_t>(at) + 3);
    const Bytes before = pixel;
    adjust_hue({3, 1, 1, pixel}, 0);
    CHECK(pixel == before);
    adjust_hue({3, 1, 1, pixel}, 0.3);  // neither the lightest nor the darkest of the three changes
    CHECK(std::ranges::max(pixel) == std::ranges::max(before));
    CHECK(std::abs(std::ranges::min(pixel) - std::ranges::min(before)) <= 1);
  }
  CHECK(changed([](const ImageBytes& image) { adjust_hue(image, 0.3); }, 1) ==
        changed([](const ImageBytes&) {}, 1));
}

TEST_CASE("a row gets the same changes in batches of any size, and others in each epoch") {
  const Dataset set = counted_images(50, {3, 6, 5});
  const std::vector<float> whole = epoch_of(set, everything(), 3, 50);
  for (const std::int64_t batch : {1, 7, 32}) CHECK(epoch_of(set, everything(), 3, batch) == whole);
  CHECK(epoch_of(set, everything(), 4, 50) != whole);
  CHECK(epoch_of(set, everything(), 3, 50, 1) != whole);
  const Array plain = set.features();
  const auto values = plain.span<float>();
  CHECK(epoch_of(set, {}, 3, 7) == std::vector<float>(values.begin(), values.end()));
}

TEST_CASE("images are moved to every place alike, and mirrored as often as asked") {
  // Rows of one image, 1 2 3: with a border of one pixel it is moved by -1, 0 or 1.
  Dataset set = counted_images(3000, {1, 1, 3});
  auto bytes = set.inputs.front().values.mutable_span<std::uint8_t>();
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(1 + i % 3);
  AugmentOptions options;
  options.crop = 1;
  std::map<std::vector<float>, int> counts;
  const auto count = [&] {
    counts.clear();
    const std::vector<float> all = epoch_of(set, options, 0, 64);
    for (std::size_t row = 0; row < 3000; ++row)
      ++counts[{all.begin() + static_cast<std::ptrdiff_t>(3 * row),
                all.begin() + static_cast<std::ptrdiff_t>(3 * row + 3)}];
  };
  count();
  // A row of zeros above or below comes in for 2 of 3; the others are the three columns' places.
  const std::set<std::vector<float>> places{{0, 0, 0}, {0, 1, 2}, {1, 2, 3}, {2, 3, 0}};
  for (const auto& [row, times] : counts) {
    CHECK(places.contains(row));
    // 5 standard deviations of 3000 draws.
    if (row == std::vector<float>{0, 0, 0})
      CHECK(std::abs(times - 2000) < 5 * 26);
    else
      CHECK(std::abs(times - 333) < 5 * 18);
  }
  options.crop = 0;
  options.flip = 0.25;
  count();
  CHECK(counts.size() == 2);
  CHECK(std::abs(counts[{3, 2, 1}] - 750) < 5 * 24);
}

TEST_CASE("a cut-out square is zeros after scaling, in all channels, cut by the edge") {
  Dataset set = counted_images(200, {2, 5, 4});
  set.inputs.front().pixels = PixelTable(1.0, {0.5}, {1.0});  // no pixel becomes 0 by itself
  AugmentOptions options;
  options.cutout = 3;
  const std::vector<float> all = epoch_of(set, options, 0, 200);
  std::set<std::size_t> sizes;
  for (std::size_t row = 0; row < 200; ++row) {
    const auto plane = [&](std::size_t channel) {
      std::vector<bool> zeros;
      for (std::size_t i = 0; i < 20; ++i)
        zeros.push_back(all[row * 40 + channel * 20 + i] == 0.0f);
      return zeros;
    };
    CHECK(plane(0) == plane(1));
    const auto zeros = plane(0);
    sizes.insert(static_cast<std::size_t>(std::count(zeros.begin(), zeros.end(), true)));
  }
  CHECK(sizes == std::set<std::size_t>{4, 6, 9});  // in a corner, at an edge, inside
}

TEST_CASE("changes that do not fit the data are refused") {
  AugmentOptions options;
  options.flip = 0.5;
  const auto refusal = [&](const Dataset& set) {
    return message_of(Fault::config, [&] { Augmenter(options, set, 0); });
  };
  Dataset set = counted_images(4, {1, 2, 2});
  Augmenter(options, set, 0);
  set.targets.front().values = Array(DType::int64, {4, 2, 2});
  CHECK_THAT(refusal(set), Contains("target y has shape [4, 2, 2]") && Contains("augment_flip"));
  options.flip = 0;
  options.contrast = 0.5;
  Augmenter(options, set, 0);  // colours have no place
  set.inputs.front().values = Array(DType::float32, {4, 1, 2, 2});
  CHECK_THAT(refusal(set), Contains("augment_contrast") && Contains("x is float32[4, 1, 2, 2]"));
}
