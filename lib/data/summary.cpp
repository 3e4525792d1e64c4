// SPDX-License-Identifier: Apache-2.0
// Ranges and counts, and pixels of samples.
#include "data/summary.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"
#include "data/pieces.hpp"

namespace mase::data {
namespace {

/// Calls see(values) for spans of the array's own type.
template <class See>
void for_each_span(const Array& values, See see) {
  const auto of = [&](auto type) {
    for_each_piece(values, [&](std::size_t first, std::size_t count) {
      see(values.span<decltype(type)>().subspan(first, count));
    });
  };
  switch (values.dtype()) {
    case DType::float32:
      return of(float{});
    case DType::int64:
      return of(std::int64_t{});
    case DType::int32:
      return of(std::int32_t{});
    case DType::uint8:
      return of(std::uint8_t{});
    default:
      MASE_CHECK(false, "a data set has values of another type");
  }
}

/// Mean and sum of squared differences from it, of so many values.
struct Moments {
  double count = 0, mean = 0, squares = 0;

  /// Adds those of other values (Chan, Golub and LeVeque 1979, formula 2.1).
  void add(const Moments& other) {
    const double all = count + other.count, apart = other.mean - mean;
    mean += apart * other.count / all;
    squares += other.squares + apart * apart * count * other.count / all;
    count = all;
  }
};

template <class T>
Moments moments_of(std::span<const T> values) {
  Moments found;
  for (const T value : values) found.mean += static_cast<double>(value);
  found.count = static_cast<double>(values.size());
  found.mean /= found.count;
  for (const T value : values) {
    const double apart = static_cast<double>(value) - found.mean;
    found.squares += apart * apart;
  }
  return found;
}

bool is_image(const Shape& shape) { return shape.size() == 4 && (shape[1] == 1 || shape[1] == 3); }

/// The target that gives every row one class; null where there is none, or several.
const Target* one_class_per_row(const Dataset& dataset) {
  if (dataset.targets.size() != 1) return nullptr;
  const Target& target = dataset.targets.front();
  return target.classes() > 0 && numel(target.shape(1)) == 1 ? &target : nullptr;
}

/// How to make images of an array of this shape; "" where it has no form of images.
std::string remedy_for(const std::string& name, const Shape& shape) {
  if (shape.size() == 4 && (shape[3] == 1 || shape[3] == 3))
    return "; if the channels are last, store " + name + ".transpose(0, 3, 1, 2)";
  if (shape.size() == 3) return "; if these are grey images, store " + name + "[:, None]";
  return "";
}

/// How an image is laid out in the picture: every `step`th pixel, `factor` times as large.
struct Layout {
  std::int64_t channels, height, width, step, factor, cell_height, cell_width;
};

constexpr std::int64_t images_in_line = 4, gap = 2, small = 128, large = 512;

Layout layout_of(const Shape& shape) {
  const std::int64_t longer = std::max({shape[2], shape[3], std::int64_t{1}});
  Layout layout{shape[1],
                shape[2],
                shape[3],
                (longer + large - 1) / large,
                std::max<std::int64_t>(1, small / longer),
                0,
                0};
  layout.cell_height = (layout.height + layout.step - 1) / layout.step * layout.factor;
  layout.cell_width = (layout.width + layout.step - 1) / layout.step * layout.factor;
  return layout;
}

/// Draws one image with its upper left corner at (top, left).
void draw(std::span<const float> values, const Layout& layout, std::int64_t top, std::int64_t left,
          SamplePicture& picture) {
  const double scale = 255 / std::max(picture.white - picture.black, 1e-30);
  for (std::int64_t y = 0; y < layout.cell_height; ++y)
    for (std::int64_t x = 0; x < layout.cell_width; ++x)
      for (std::int64_t channel = 0; channel < layout.channels; ++channel) {
        const std::int64_t row = y / layout.factor * layout.step,
                           column = x / layout.factor * layout.step;
        const auto from =
            static_cast<std::size_t>((channel * layout.height + row) * layout.width + column);
        const auto to = static_cast<std::size_t>(
            ((top + y) * picture.image.width + left + x) * layout.channels + channel);
        picture.image.pixels[to] = static_cast<std::uint8_t>(
            std::lround(std::clamp((values[from] - picture.black) * scale, 0.0, 255.0)));
      }
}

/// The range of bytes, from how many there are of each.
/// How often every byte occurs.
using ByteCounts = std::array<std::int64_t, 256>;

void count_bytes(std::span<const std::uint8_t> bytes, ByteCounts& counts) {
  for (const std::uint8_t byte : bytes) ++counts[byte];
}

Range range_of_counts(const ByteCounts& counts) {
  const auto all = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  const auto sum_of = [&](auto term) {
    double sum = 0;
    for (std::size_t byte = 0; byte < counts.size(); ++byte)
      sum += static_cast<double>(counts[byte]) * term(static_cast<double>(byte));
    return sum / static_cast<double>(all);
  };
  const auto is_there = [](std::int64_t count) { return count > 0; };
  Range range;
  range.least = static_cast<double>(std::ranges::find_if(counts, is_there) - counts.begin());
  range.greatest = static_cast<double>(counts.rend() -
                                       std::find_if(counts.rbegin(), counts.rend(), is_there) - 1);
  range.mean = sum_of([](double byte) { return byte; });
  range.deviation =
      std::sqrt(sum_of([&](double byte) { return (byte - range.mean) * (byte - range.mean); }));
  return range;
}

}  // namespace

Range range_of(const Array& values) {
  MASE_CHECK(values.size() > 0, "the range of no values");
  if (values.dtype() == DType::uint8) {
    ByteCounts counts{};
    for_each_piece(values, [&](std::size_t first, std::size_t count) {
      count_bytes(values.span<std::uint8_t>().subspan(first, count), counts);
    });
    return range_of_counts(counts);
  }
  Range range{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  Moments all;
  for_each_span(values, [&](auto piece) {
    const auto [least, greatest] = std::ranges::minmax(piece);
    range.least = std::min(range.least, static_cast<double>(least));
    range.greatest = std::max(range.greatest, static_cast<double>(greatest));
    all.add(moments_of(piece));
  });
  range.mean = all.mean;
  range.deviation = std::sqrt(all.squares / all.count);
  return range;
}

Range range_of(const InputColumn& column) {
  if (!column.source) return range_of(column.values);
  ByteCounts counts{};
  column.read_pieces([&](std::span<const std::uint8_t> piece) { count_bytes(piece, counts); });
  return range_of_counts(counts);
}

std::vector<std::int64_t> count_classes(const Target& target,
                                        const std::vector<std::int64_t>& rows) {
  std::vector<std::int64_t> counts(target.class_names.size(), 0);
  const auto labels = target.values.span<std::int64_t>();
  const auto positions = static_cast<std::size_t>(numel(target.shape(1)));
  for (const std::int64_t row : rows)
    for (const std::int64_t label :
         labels.subspan(static_cast<std::size_t>(row) * positions, positions))
      if (label != ignored_label) ++counts[static_cast<std::size_t>(label)];
  return counts;
}

const InputColumn& image_input(const Dataset& dataset) {
  std::vector<std::string> shapes;
  std::string remedy;
  for (const InputColumn& input : dataset.inputs) {
    const Shape& shape = input.values.shape();
    if (is_image(shape)) return input;
    shapes.push_back(input.name + " has shape " + shape_text(shape));
    if (remedy.empty()) remedy = remedy_for(input.name, shape);
  }
  config_error("data set " + dataset.name + " has no images: " + join(shapes, ", ") +
               "; leave out the picture, which is made of [rows, 1 or 3, height, width]" + remedy);
}

std::vector<std::int64_t> sample_rows(const Dataset& dataset, std::size_t count) {
  const Target* const classes = one_class_per_row(dataset);
  std::vector<std::size_t> seen(classes ? classes->class_names.size() : 1, 0);
  std::map<std::pair<std::size_t, std::size_t>, std::int64_t> rows;  // by time of its class, class
  for (const std::int64_t row : dataset.train) {
    const auto label = static_cast<std::size_t>(
        classes ? classes->values.span<std::int64_t>()[static_cast<std::size_t>(row)] : 0);
    if (const std::size_t time = seen[label]++; time < count) rows[{time, label}] = row;
  }
  std::vector<std::int64_t> first;
  for (const auto& [place, row] : rows)
    if (first.size() < count) first.push_back(row);
  return first;
}

namespace {

/// One row as it is stored.
Array stored_row(const InputColumn& column, std::int64_t row) {
  if (!column.source) return column.values.rows(row, 1);
  Array stored(column.values.dtype(), column.shape(1));
  column.source->read(std::span(&row, 1), [&](std::size_t, std::span<std::uint8_t> bytes) {
    std::ranges::copy(bytes, stored.mutable_span<std::uint8_t>().begin());
  });
  return stored;
}

}  // namespace

SamplePicture picture_of(const InputColumn& images, const std::vector<std::int64_t>& rows) {
  const Layout layout = layout_of(images.values.shape());
  std::vector<Array> samples;
  SamplePicture picture;
  if (images.values.dtype() == DType::uint8) picture.white = 255;
  for (const std::int64_t row : rows) {
    samples.push_back(stored_row(images, row).to_float32());
    const auto [least, greatest] = std::ranges::minmax(samples.back().span<float>());
    picture.black = std::min(picture.black, double{least});
    picture.white = std::max(picture.white, double{greatest});
  }
  const auto count = static_cast<std::int64_t>(rows.size());
  const std::int64_t columns = std::min(count, images_in_line);
  const std::int64_t lines = (count + images_in_line - 1) / images_in_line;
  Image& image = picture.image;
  image.channels = layout.channels;
  image.height = lines * (layout.cell_height + gap) - gap;
  image.width = columns * (layout.cell_width + gap) - gap;
  image.pixels.assign(static_cast<std::size_t>(image.channels * image.height * image.width), 255);
  for (std::int64_t i = 0; i < count; ++i)
    draw(samples[static_cast<std::size_t>(i)].span<float>(), layout,
         i / images_in_line * (layout.cell_height + gap),
         i % images_in_line * (layout.cell_width + gap), picture);
  return picture;
}

}  // namespace mase::data
