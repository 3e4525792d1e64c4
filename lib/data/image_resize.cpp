// SPDX-License-Identifier: Apache-2.0
// Antialiased bilinear filtering, one axis after the other.
#include "data/image_resize.hpp"

#include <algorithm>
#include <cmath>

namespace mase::data {
namespace {

/// The old pixels of one new pixel along an axis.
struct Taps {
  std::int64_t first = 0;
  std::vector<double> weights;  ///< their sum is 1
};

/// New pixel `index` of `to` where there were `from`.
Taps taps_of(std::int64_t index, std::int64_t from, std::int64_t to) {
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  const double radius = std::max(scale, 1.0);
  const double centre = (static_cast<double>(index) + 0.5) * scale;
  Taps taps;
  taps.first =
      std::max<std::int64_t>(0, static_cast<std::int64_t>(std::floor(centre - radius + 0.5)));
  const std::int64_t end =
      std::min(from, static_cast<std::int64_t>(std::floor(centre + radius + 0.5)));
  double sum = 0;
  for (std::int64_t pixel = taps.first; pixel < end; ++pixel) {
    const double distance = std::fabs(static_cast<double>(pixel) + 0.5 - centre);
    taps.weights.push_back(std::max(0.0, 1.0 - distance / radius));
    sum += taps.weights.back();
  }
  for (double& weight : taps.weights) weight /= sum;
  return taps;
}

/// The taps of the middle `size` of `to` new pixels.
std::vector<Taps> middle_taps(std::int64_t from, std::int64_t to, std::int64_t size) {
  // A half is rounded to the even number, as Python does.
  const std::int64_t begin = std::llrint(static_cast<double>(to - size) / 2.0);
  std::vector<Taps> taps;
  for (std::int64_t i = 0; i < size; ++i) taps.push_back(taps_of(begin + i, from, to));
  return taps;
}

/// The weighted mean of pixels that lie `stride` bytes apart.
std::uint8_t mean(const std::uint8_t* pixels, std::int64_t stride, const Taps& taps) {
  double sum = 0;
  for (const double weight : taps.weights) {
    sum += weight * *pixels;
    pixels += stride;
  }
  return static_cast<std::uint8_t>(std::floor(sum + 0.5));
}

Image sized_like(const Image& image, std::int64_t height, std::int64_t width) {
  Image out{image.channels, height, width, {}};
  out.pixels.resize(static_cast<std::size_t>(image.channels * height * width));
  return out;
}

/// Makes the rows from `first` on as narrow as there are taps.
Image along_rows(const Image& image, std::int64_t first, std::int64_t rows,
                 const std::vector<Taps>& columns) {
  Image out = sized_like(image, rows, static_cast<std::int64_t>(columns.size()));
  std::uint8_t* to = out.pixels.data();
  for (std::int64_t row = first; row < first + rows; ++row)
    for (const Taps& taps : columns)
      for (std::int64_t channel = 0; channel < image.channels; ++channel)
        *to++ =
            mean(image.pixels.data() + (row * image.width + taps.first) * image.channels + channel,
                 image.channels, taps);
  return out;
}

/// Makes the columns as short as there are taps. Row 0 of the image is row `first` of the taps.
Image along_columns(const Image& image, std::int64_t first, const std::vector<Taps>& rows) {
  Image out = sized_like(image, static_cast<std::int64_t>(rows.size()), image.width);
  const std::int64_t stride = image.width * image.channels;
  std::uint8_t* to = out.pixels.data();
  for (const Taps& taps : rows)
    for (std::int64_t i = 0; i < stride; ++i)
      *to++ = mean(image.pixels.data() + (taps.first - first) * stride + i, stride, taps);
  return out;
}

}  // namespace

Image resize_and_crop(const Image& image, std::int64_t size) {
  const std::int64_t shorter = std::min(image.height, image.width);
  const auto resized = [&](std::int64_t side) { return size * side / shorter; };
  const std::vector<Taps> columns = middle_taps(image.width, resized(image.width), size);
  const std::vector<Taps> rows = middle_taps(image.height, resized(image.height), size);
  const std::int64_t first = rows.front().first;
  const std::int64_t end =
      rows.back().first + static_cast<std::int64_t>(rows.back().weights.size());
  return along_columns(along_rows(image, first, end - first, columns), first, rows);
}

}  // namespace mase::data
