// SPDX-License-Identifier: Apache-2.0
// Antialiased filtering, one axis after the other.
#include "data/image_resize.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "base/text.hpp"
#include "data/resize_kernel.hpp"

namespace mase::data {

/// The old pixels of one new pixel along an axis.
struct Taps {
  std::int64_t first = 0;
  std::vector<std::int32_t> weights;  ///< with `fraction_bits`; their sum is about 1
};

/// Taps as the kernels take them.
struct TapTable {
  std::vector<std::int32_t> first, weights;
  std::vector<std::int16_t> halves;
  std::size_t groups = 0;
};

namespace {

/// How much an old pixel counts at this distance from a new one, and where that ends.
struct Filter {
  double reach;
  double (*weight)(double distance);
};

double triangle(double distance) { return std::max(0.0, 1.0 - distance); }

/// Keys, Cubic convolution interpolation for digital image processing (1981), with a = -1/2.
double cubic(double x) {
  constexpr double a = -0.5;
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

constexpr Filter bilinear{1, triangle}, bicubic{2, cubic};

/// New pixel `index` of `to` where there were `from`.
Taps taps_of(const Filter& filter, std::int64_t index, std::int64_t from, std::int64_t to) {
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  const double step = std::max(scale, 1.0), radius = filter.reach * step;
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
    weights.push_back(filter.weight(distance * (1.0 / step)));
    sum += weights.back();
  }
  for (const double weight : weights)
    taps.weights.push_back(static_cast<std::int32_t>(
        std::round(weight * (1.0 / sum) * (1 << kernels::fraction_bits))));
  return taps;
}

/// The taps of the middle `size` of `to` new pixels.
std::vector<Taps> middle_taps(const Filter& filter, std::int64_t from, std::int64_t to,
                              std::int64_t size) {
  // A half is rounded to the even number, as Python does.
  const std::int64_t begin = std::llrint(static_cast<double>(to - size) / 2.0);
  std::vector<Taps> taps;
  for (std::int64_t i = 0; i < size; ++i) taps.push_back(taps_of(filter, begin + i, from, to));
  return taps;
}

/// The place of a tap's half weight for one channel in a group's halves.
std::size_t half_at(std::size_t tap, std::size_t channel) {
  return tap / 2 * 8 + channel * 2 + tap % 2;
}

TapTable table_of(const std::vector<Taps>& all) {
  using namespace kernels;
  TapTable table;
  for (const Taps& taps : all)
    table.groups = std::max(table.groups, (taps.weights.size() + tap_group - 1) / tap_group);
  const std::size_t count = table.groups * tap_group;
  table.weights.assign(all.size() * count, 0);
  table.halves.assign(all.size() * table.groups * 32, 0);
  for (std::size_t i = 0; i < all.size(); ++i) {
    table.first.push_back(static_cast<std::int32_t>(all[i].first));
    for (std::size_t tap = 0; tap < all[i].weights.size(); ++tap) {
      const std::int32_t weight = all[i].weights[tap];
      table.weights[i * count + tap] = weight;
      std::int16_t* const group = table.halves.data() + (i * table.groups + tap / tap_group) * 32;
      for (std::size_t channel = 0; channel < 3; ++channel) {
        const std::size_t at = half_at(tap % tap_group, channel);
        group[at] = static_cast<std::int16_t>(weight >> low_bits);
        group[16 + at] = static_cast<std::int16_t>(weight & ((1 << low_bits) - 1));
      }
    }
  }
  return table;
}

/// A positive number of pixels of at most 4 digits that is within the bounds; 0 for another text.
std::int64_t side_in(std::string_view text, const FieldRules& rules) {
  const auto side = parse_int(text);
  return side && static_cast<double>(*side) >= rules.low && static_cast<double>(*side) <= rules.high
             ? *side
             : 0;
}

/// "HxW", or "N" with the width 0; {0, 0} for another text.
std::pair<std::int64_t, std::int64_t> sides_in(std::string_view text, const FieldRules& rules) {
  const std::vector<std::string> sides = mase::split(text, 'x');
  if (sides.size() > 2) return {0, 0};
  const std::int64_t height = side_in(sides[0], rules);
  if (sides.size() == 1 || height == 0) return {height, 0};
  const std::int64_t width = side_in(sides[1], rules);
  return {width > 0 ? height : 0, width};
}

/// Whether it is "SIZE" or "SIZE:MIDDLE", and images of this size have the middle.
bool read_size(std::string_view text, const FieldRules& rules, ImageSize& size) {
  const std::vector<std::string> parts = mase::split(text, ':');
  if (parts.size() > 2) return false;
  std::tie(size.height, size.width) = sides_in(parts[0], rules);
  if (parts.size() == 1) return size.height > 0;
  std::tie(size.kept_height, size.kept_width) = sides_in(parts[1], rules);
  if (size.kept_width == 0) size.kept_width = size.kept_height;
  const std::int64_t width = size.width > 0 ? size.width : size.height;
  return size.kept_height > 0 && size.kept_height <= size.height && size.kept_width <= width;
}

std::string sides_text(std::int64_t height, std::int64_t width) {
  return std::to_string(height) + (width > 0 ? "x" + std::to_string(width) : "");
}

}  // namespace

bool ImageSize::read_field(const Tree& tree, std::string_view key, const FieldRules& rules,
                           Diagnostics& diagnostics) {
  *this = {};
  if (field_detail::is_none(tree)) return true;
  if (!tree.is_string()) return field_detail::read_value(tree, key, rules, height, diagnostics);
  const bool is_one_number = parse_int(tree.as_string()).has_value();  // which is not a text
  if (!is_one_number && read_size(tree.as_string(), rules, *this)) return true;
  *this = {};
  diagnostics.error(tree.where,
                    "option '" + std::string(key) + "' is " + quote(tree.as_string()) +
                        "; give pixels as 224, rows and columns as \"240x320\", or the middle "
                        "that is kept after a colon, as \"256:224\"");
  return false;
}

Tree ImageSize::write_field() const {
  if (!is_set()) return Tree("NA");
  if (kept_height > 0)
    return Tree(sides_text(height, width) + ":" +
                sides_text(kept_height, kept_width == kept_height ? 0 : kept_width));
  return width == 0 ? Tree(height) : Tree(sides_text(height, width));
}

/// The taps of both axes for images of one size.
struct Resizer::Plan {
  std::int64_t height, width;  ///< of the old images
  TapTable columns;
  std::vector<Taps> rows;

  Plan(const Image& image, const Resizing& resizing) : height(image.height), width(image.width) {
    const ImageSize& size = resizing.size;
    const Filter& filter = resizing.bicubic ? bicubic : bilinear;
    const std::int64_t shorter = std::min(height, width);
    const bool keeps_proportions = size.width == 0;
    const auto resized = [&](std::int64_t side, std::int64_t given) {
      return keeps_proportions ? size.height * side / shorter : given;
    };
    const auto kept = [&](std::int64_t middle, std::int64_t given) {
      return middle > 0 ? middle : keeps_proportions ? size.height : given;
    };
    columns = table_of(
        middle_taps(filter, width, resized(width, size.width), kept(size.kept_width, size.width)));
    rows = middle_taps(filter, height, resized(height, size.height),
                       kept(size.kept_height, size.height));
  }
};

Resizer::Resizer(const Resizing& resizing) : resizing_(resizing) {}
Resizer::~Resizer() = default;

const Image& Resizer::operator()(const Image& image) {
  if (!plan_ || plan_->height != image.height || plan_->width != image.width)
    plan_ = std::make_unique<Plan>(image, resizing_);
  filter_rows(image);
  filter_columns(image.channels);
  return out_;
}

void Resizer::filter_rows(const Image& image) {
  const TapTable& table = plan_->columns;
  const kernels::RowTaps taps{table.first.data(), table.groups, table.weights.data(),
                              table.halves.data()};
  const auto channels = static_cast<std::size_t>(image.channels);
  const std::size_t size = channels * static_cast<std::size_t>(image.width);
  const std::size_t new_size = channels * table.first.size();
  const auto& kernel = kernels::resize_kernels(simd::best_isa());
  const auto filter = image.channels == 1 ? kernel.grey_row : kernel.colour_row;
  const auto begin = static_cast<std::size_t>(plan_->rows.front().first);
  const std::size_t end =
      static_cast<std::size_t>(plan_->rows.back().first) + plan_->rows.back().weights.size();
  row_.resize(size + table.groups * kernels::tap_group * channels + kernels::row_padding);
  narrow_.resize((end - begin) * new_size + kernels::row_padding);
  for (std::size_t row = begin; row < end; ++row) {
    std::copy_n(image.pixels.data() + row * size, size, row_.begin());
    filter(row_.data(), taps, table.first.size(), narrow_.data() + (row - begin) * new_size);
  }
}

void Resizer::filter_columns(std::int64_t channels) {
  out_.channels = channels;
  out_.height = static_cast<std::int64_t>(plan_->rows.size());
  out_.width = static_cast<std::int64_t>(plan_->columns.first.size());
  const auto size = static_cast<std::size_t>(out_.channels * out_.width);
  out_.pixels.resize(size * plan_->rows.size());
  sums_.resize(size);
  const auto add_rows = kernels::resize_kernels(simd::best_isa()).add_rows;
  std::uint8_t* to = out_.pixels.data();
  for (const Taps& taps : plan_->rows) {
    const std::int64_t first = taps.first - plan_->rows.front().first;
    add_rows(narrow_.data() + static_cast<std::size_t>(first) * size, size, taps.weights.data(),
             taps.weights.size(), sums_.data(), to);
    to += size;
  }
}

Image resize(const Image& image, const Resizing& resizing) { return Resizer(resizing)(image); }

}  // namespace mase::data
