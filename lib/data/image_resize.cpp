// SPDX-License-Identifier: Apache-2.0
// Antialiased bilinear filtering, one axis after the other.
#include "data/image_resize.hpp"

#include <algorithm>
#include <cmath>

#include "base/text.hpp"

namespace mase::data {
namespace {

constexpr int fraction_bits = 22;
constexpr std::int32_t half = 1 << (fraction_bits - 1);

/// The old pixels of one new pixel along an axis.
struct Taps {
  std::int64_t first = 0;
  std::vector<std::int32_t> weights;  ///< with `fraction_bits`; their sum is about 1
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
  std::vector<double> weights;
  double sum = 0;
  for (std::int64_t pixel = taps.first; pixel < end; ++pixel) {
    const double distance = std::fabs(static_cast<double>(pixel) - centre + 0.5);
    weights.push_back(std::max(0.0, 1.0 - distance * (1.0 / radius)));
    sum += weights.back();
  }
  for (const double weight : weights)
    taps.weights.push_back(
        static_cast<std::int32_t>(std::floor(weight * (1.0 / sum) * (1 << fraction_bits) + 0.5)));
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

std::uint8_t pixel_of(std::int32_t sum) {
  return static_cast<std::uint8_t>(std::clamp(sum >> fraction_bits, 0, 255));
}

Image sized_like(const Image& image, std::int64_t height, std::int64_t width) {
  Image out{image.channels, height, width, {}};
  out.pixels.resize(static_cast<std::size_t>(image.channels * height * width));
  return out;
}

/// One new row; the number of channels is known, so that their sums stay in registers.
template <int channels>
void filter_row(const std::uint8_t* row, const std::vector<Taps>& columns, std::uint8_t* to) {
  for (const Taps& taps : columns) {
    const std::uint8_t* from = row + taps.first * channels;
    std::int32_t sums[channels];
    std::fill_n(sums, channels, half);
    for (const std::int32_t weight : taps.weights)
      for (int channel = 0; channel < channels; ++channel) sums[channel] += weight * *from++;
    for (int channel = 0; channel < channels; ++channel) *to++ = pixel_of(sums[channel]);
  }
}

/// Makes the rows from `first` on as narrow as there are taps.
Image along_rows(const Image& image, std::int64_t first, std::int64_t rows,
                 const std::vector<Taps>& columns) {
  Image out = sized_like(image, rows, static_cast<std::int64_t>(columns.size()));
  const auto filter = image.channels == 1 ? filter_row<1> : filter_row<3>;
  for (std::int64_t row = 0; row < rows; ++row)
    filter(image.pixels.data() + (first + row) * image.width * image.channels, columns,
           out.pixels.data() + row * out.width * out.channels);
  return out;
}

/// Makes the columns as short as there are taps. Row 0 of the image is row `first` of the taps.
Image along_columns(const Image& image, std::int64_t first, const std::vector<Taps>& rows) {
  Image out = sized_like(image, static_cast<std::int64_t>(rows.size()), image.width);
  const auto stride = static_cast<std::size_t>(image.width * image.channels);
  std::uint8_t* to = out.pixels.data();
  std::vector<std::int32_t> sums(stride);
  for (const Taps& taps : rows) {
    std::ranges::fill(sums, half);
    const std::uint8_t* from =
        image.pixels.data() + static_cast<std::size_t>(taps.first - first) * stride;
    for (const std::int32_t weight : taps.weights) {
      for (std::size_t i = 0; i < stride; ++i) sums[i] += weight * from[i];
      from += stride;
    }
    for (const std::int32_t sum : sums) *to++ = pixel_of(sum);
  }
  return out;
}

/// A positive number of pixels of at most 4 digits that is within the bounds; 0 for another text.
std::int64_t side_in(std::string_view text, const FieldRules& rules) {
  const auto side = parse_int(text);
  return side && static_cast<double>(*side) >= rules.low && static_cast<double>(*side) <= rules.high
             ? *side
             : 0;
}

}  // namespace

bool ImageSize::read_field(const Tree& tree, std::string_view key, const FieldRules& rules,
                           Diagnostics& diagnostics) {
  *this = {};
  if (field_detail::is_none(tree)) return true;
  if (!tree.is_string()) return field_detail::read_value(tree, key, rules, height, diagnostics);
  const std::vector<std::string> sides = mase::split(tree.as_string(), 'x');
  if (sides.size() == 2) {
    height = side_in(sides[0], rules);
    width = side_in(sides[1], rules);
    if (height > 0 && width > 0) return true;
    *this = {};
  }
  diagnostics.error(tree.where, "option '" + std::string(key) + "' is " + quote(tree.as_string()) +
                                    "; give pixels as 224, or rows and columns as \"240x320\"");
  return false;
}

Tree ImageSize::write_field() const {
  if (!is_set()) return Tree("NA");
  if (width == 0) return Tree(height);
  return Tree(std::to_string(height) + "x" + std::to_string(width));
}

Image resize(const Image& image, const ImageSize& size) {
  const std::int64_t shorter = std::min(image.height, image.width);
  const bool cut = size.width == 0;
  const std::int64_t width = cut ? size.height : size.width;
  const std::vector<Taps> columns =
      middle_taps(image.width, cut ? width * image.width / shorter : width, width);
  const std::vector<Taps> rows = middle_taps(
      image.height, cut ? size.height * image.height / shorter : size.height, size.height);
  const std::int64_t first = rows.front().first;
  const std::int64_t end =
      rows.back().first + static_cast<std::int64_t>(rows.back().weights.size());
  return along_columns(along_rows(image, first, end - first, columns), first, rows);
}

}  // namespace mase::data
