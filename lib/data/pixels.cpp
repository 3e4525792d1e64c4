// SPDX-License-Identifier: Apache-2.0
// Tables of the float32 numbers of bytes, and the options that they are made of.
#include "data/pixels.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "data/dataset.hpp"

namespace mase::data {
namespace {

constexpr std::size_t byte_values = 256;

/// Number `channel` of a list that may have one number for all channels.
double number_of(std::span<const double> numbers, std::size_t channel) {
  return numbers.size() == 1 ? numbers.front() : numbers[channel];
}

/// The option's numbers, one or as many as there are channels; `otherwise` if it is not set.
std::vector<double> numbers_of(const ChannelNumbers& option, const std::string& name,
                               double otherwise, const Shape& pixels, const std::string& origin) {
  if (!option.is_set()) return {otherwise};
  const std::size_t count = option.numbers.size();
  if (count != 1 && static_cast<std::int64_t>(count) != pixels.at(1))
    config_error(origin + ": " + name + " has " + std::to_string(count) +
                 " numbers, but the pixels " + shape_text(pixels) + " have " +
                 std::to_string(pixels[1]) + (pixels[1] == 1 ? " channel" : " channels") +
                 " (their second dimension); give one number, or one for each channel");
  return option.numbers;
}

/// Warns of means that were taken from 0 .. 255 while the pixels are scaled.
void warn_of_unscaled_means(std::span<const double> means, double scale,
                            const std::string& origin) {
  for (const double mean : means)
    if (mean < 0 || mean > 255 * scale) {
      log::warning(origin + ": pixel_mean has " + double_text(mean) + ", but pixels are 0 .. " +
                   double_text(255 * scale) +
                   " after pixel_scale; set pixel_scale = 1 (--pixel-scale 1) if mean and "
                   "deviation are those of 0 .. 255");
      return;
    }
}

}  // namespace

bool ChannelNumbers::read_field(const Tree& tree, std::string_view key, const FieldRules& rules,
                                Diagnostics& diagnostics) {
  numbers.clear();
  if (field_detail::is_none(tree)) return true;
  const bool one = tree.is_number();
  if (!one && (!tree.is_list() || tree.size() == 0)) {
    field_detail::wrong_type(tree, key, field_type(), diagnostics);
    return false;
  }
  return field_detail::read_value(one ? Tree(Tree::List{tree}) : tree, key, rules, numbers,
                                  diagnostics);
}

Tree ChannelNumbers::write_field() const {
  if (!is_set()) return Tree("NA");
  return numbers.size() == 1 ? Tree(numbers.front()) : field_detail::write_value(numbers);
}

PixelTable::PixelTable(double scale, const std::vector<double>& means,
                       const std::vector<double>& deviations) {
  const std::size_t channels = std::max(means.size(), deviations.size());
  for (std::size_t channel = 0; channel < channels; ++channel)
    for (std::size_t byte = 0; byte < byte_values; ++byte) {
      const auto pixel = static_cast<float>(static_cast<double>(byte) * scale);
      numbers_.push_back((pixel - static_cast<float>(number_of(means, channel))) /
                         static_cast<float>(number_of(deviations, channel)));
    }
}

void PixelTable::convert(std::span<const std::uint8_t> row, float* out) const {
  const std::size_t channels = numbers_.size() / byte_values, size = row.size() / channels;
  for (std::size_t channel = 0; channel < channels; ++channel) {
    const float* numbers = numbers_.data() + channel * byte_values;
    const std::uint8_t* bytes = row.data() + channel * size;
    for (std::size_t i = 0; i < size; ++i) *out++ = numbers[bytes[i]];
  }
}

const std::vector<std::string>& pixel_options() {
  static const std::vector<std::string> names{"pixel_scale", "pixel_mean", "pixel_std"};
  return names;
}

std::string given_pixel_options(const DataOptions& options) {
  std::vector<std::string> given;
  if (options.pixel_scale) given.emplace_back("pixel_scale");
  if (options.pixel_mean.is_set()) given.emplace_back("pixel_mean");
  if (options.pixel_std.is_set()) given.emplace_back("pixel_std");
  return join(given, " and ");
}

PixelTable pixel_table(const DataOptions& options, const Shape& pixels, const std::string& origin) {
  const double scale = options.pixel_scale.value_or(1.0 / 255.0);
  const auto means = numbers_of(options.pixel_mean, "pixel_mean", 0.0, pixels, origin);
  const auto deviations = numbers_of(options.pixel_std, "pixel_std", 1.0, pixels, origin);
  for (const double deviation : deviations)
    if (!(deviation > 0))
      config_error(origin + ": pixel_std has " + double_text(deviation) +
                   "; pixels are divided by it, so every number must be above 0");
  if (options.pixel_mean.is_set()) warn_of_unscaled_means(means, scale, origin);
  PixelTable table(scale, means, deviations);
  for (const float number : table.numbers())
    if (!std::isfinite(number))
      config_error(origin + ": " + given_pixel_options(options) + " make a pixel " +
                   double_text(number) + " in float32; all must be finite");
  return table;
}

}  // namespace mase::data
