// SPDX-License-Identifier: Apache-2.0
// Changes of images: moves on bytes, colours on bytes as torchvision has them, holes on numbers.
#include "data/augment.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "base/text.hpp"

namespace mase::data {
namespace {

/// Keeps these draws apart from those of the shuffling, which have the same seed.
constexpr std::uint64_t stream_of_augment = 0x6175676d656e7400;

template <class Use>
void for_each_plane(const ImageBytes& image, Use use) {
  const auto size = static_cast<std::size_t>(image.height * image.width);
  for (std::int64_t channel = 0; channel < image.channels; ++channel)
    use(image.bytes.subspan(static_cast<std::size_t>(channel) * size, size));
}

/// factor * byte + (1 - factor) * other in float32, cut to 0 .. 255 and to a whole number.
std::uint8_t blend(std::uint8_t byte, float other, double factor) {
  const float one = static_cast<float>(factor) * static_cast<float>(byte);
  const float two = static_cast<float>(1.0 - factor) * other;
  return static_cast<std::uint8_t>(std::clamp(one + two, 0.0f, 255.0f));
}

/// Grey versions of the pixels of red, green and blue.
std::vector<std::uint8_t> grey_of(const ImageBytes& image) {
  const auto size = static_cast<std::size_t>(image.height * image.width);
  std::vector<std::uint8_t> grey(size);
  for (std::size_t i = 0; i < size; ++i) {
    const float red = 0.2989f * static_cast<float>(image.bytes[i]);
    const float green = 0.587f * static_cast<float>(image.bytes[size + i]);
    const float blue = 0.114f * static_cast<float>(image.bytes[2 * size + i]);
    grey[i] = static_cast<std::uint8_t>(red + green + blue);
  }
  return grey;
}

float mean_of(std::span<const std::uint8_t> bytes) {
  const auto sum = std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0});
  return static_cast<float>(static_cast<double>(sum) / static_cast<double>(bytes.size()));
}

/// Red, green and blue from 0 to 1.
using Colour = std::array<float, 3>;

/// The colour with its hue turned by this share of the circle.
Colour turned(const Colour& colour, float turn) {
  const auto [red, green, blue] = colour;
  const float value = std::max({red, green, blue}), least = std::min({red, green, blue});
  const float spread = value - least;
  if (spread == 0) return colour;  // grey
  const float r = (value - red) / spread, g = (value - green) / spread, b = (value - blue) / spread;
  const float sixths = value == red ? b - g : value == green ? 2.0f + r - b : 4.0f + g - r;
  float hue = std::fmod(sixths / 6.0f + 1.0f, 1.0f) + turn;
  hue -= std::floor(hue);
  const float place = hue * 6.0f, sector = std::floor(place), part = place - sector;
  const float saturation = spread / value;
  const auto down_to = [&](float share) {
    return std::clamp(value * (1.0f - saturation * share), 0.0f, 1.0f);
  };
  const float low = down_to(1), falling = down_to(part), rising = down_to(1.0f - part);
  switch (static_cast<int>(sector) % 6) {
    case 0:
      return {value, rising, low};
    case 1:
      return {falling, value, low};
    case 2:
      return {low, value, rising};
    case 3:
      return {low, falling, value};
    case 4:
      return {rising, low, value};
    default:
      return {value, low, falling};
  }
}

/// The factor for a share: from 1 - share, but not below 0, to 1 + share.
double draw_factor(double share, Random& random) {
  return random.uniform(std::max(0.0, 1.0 - share), 1.0 + share);
}

void move(const AugmentOptions& options, const ImageBytes& image, Random& random) {
  if (options.crop > 0) {
    const auto places = static_cast<std::uint64_t>(2 * options.crop + 1);
    const std::int64_t rows = static_cast<std::int64_t>(random.below(places)) - options.crop;
    shift(image, rows, static_cast<std::int64_t>(random.below(places)) - options.crop);
  }
  if (options.flip > 0 && random.uniform() < options.flip) mirror(image);
}

void colour(const AugmentOptions& options, const ImageBytes& image, Random& random) {
  if (options.brightness > 0) adjust_brightness(image, draw_factor(options.brightness, random));
  if (options.contrast > 0) adjust_contrast(image, draw_factor(options.contrast, random));
  if (options.saturation > 0) adjust_saturation(image, draw_factor(options.saturation, random));
  if (options.hue > 0) adjust_hue(image, random.uniform(-options.hue, options.hue));
}

/// Sets a square around a random pixel to 0; the image's edge may cut it (DeVries and Taylor,
/// arXiv 1708.04552).
void cut_out(std::int64_t side, const ImageBytes& image, Random& random, float* numbers) {
  const auto centre = [&](std::int64_t size) {
    return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(size)));
  };
  const std::int64_t top = centre(image.height) - side / 2, left = centre(image.width) - side / 2;
  const std::int64_t first = std::max<std::int64_t>(0, left);
  const std::int64_t end = std::min(image.width, left + side);
  for (std::int64_t channel = 0; channel < image.channels; ++channel)
    for (std::int64_t row = std::max<std::int64_t>(0, top);
         row < std::min(image.height, top + side); ++row) {
      float* const line = numbers + (channel * image.height + row) * image.width;
      std::fill(line + first, line + end, 0.0f);
    }
}

bool is_image(const InputColumn& column) {
  return column.values.dtype() == DType::uint8 && column.values.shape().size() == 4;
}

/// The options that are set, by name.
std::string names_of(const AugmentOptions& options) {
  std::vector<std::string> names;
  for_each_field<AugmentOptions>([&](const auto& field) {
    if (options.*(field.member) > 0) names.emplace_back(field.name);
  });
  return join(names, ", ");
}

void require_images(const Dataset& data, const std::string& names) {
  if (std::ranges::any_of(data.inputs, is_image)) return;
  std::vector<std::string> found;
  for (const InputColumn& column : data.inputs)
    found.push_back(column.name + " is " + std::string(dtype_name(column.values.dtype())) +
                    shape_text(column.values.shape()));
  config_error("data set " + data.name + ": " + names +
               ": training images are changed as uint8[rows, channels, height, width], but " +
               join(found, ", ") +
               "; leave the option out, or store pixels as numpy.uint8 in this shape");
}

/// A target of several numbers per row, such as a class per pixel or a box, has places in it.
void require_targets_without_places(const Dataset& data) {
  for (const Target& target : data.targets)
    if (find_task(target.task).wants != Wants::flags && numel(target.shape(1)) != 1)
      config_error("data set " + data.name + ": target " + target.name + " has shape " +
                   shape_text(target.values.shape()) +
                   ", whose places do not move with an image; leave out augment_flip, "
                   "augment_crop and augment_cutout");
}

}  // namespace

void shift(const ImageBytes& image, std::int64_t rows, std::int64_t columns) {
  std::vector<std::uint8_t> old(static_cast<std::size_t>(image.height * image.width));
  const std::int64_t first = std::clamp<std::int64_t>(-columns, 0, image.width);
  const std::int64_t end = std::clamp<std::int64_t>(image.width - columns, first, image.width);
  for_each_plane(image, [&](std::span<std::uint8_t> plane) {
    std::ranges::copy(plane, old.begin());
    std::ranges::fill(plane, std::uint8_t{0});
    for (std::int64_t y = 0; y < image.height; ++y) {
      const std::int64_t from = y + rows;
      if (from < 0 || from >= image.height) continue;
      std::copy(old.begin() + from * image.width + first + columns,
                old.begin() + from * image.width + end + columns,
                plane.begin() + y * image.width + first);
    }
  });
}

void mirror(const ImageBytes& image) {
  for_each_plane(image, [&](std::span<std::uint8_t> plane) {
    for (auto line = plane.begin(); line != plane.end(); line += image.width)
      std::reverse(line, line + image.width);
  });
}

void adjust_brightness(const ImageBytes& image, double factor) {
  for (std::uint8_t& byte : image.bytes) byte = blend(byte, 0.0f, factor);
}

void adjust_contrast(const ImageBytes& image, double factor) {
  const float mean = image.channels == 3 ? mean_of(grey_of(image)) : mean_of(image.bytes);
  for (std::uint8_t& byte : image.bytes) byte = blend(byte, mean, factor);
}

void adjust_saturation(const ImageBytes& image, double factor) {
  if (image.channels != 3) return;
  const std::vector<std::uint8_t> grey = grey_of(image);
  for_each_plane(image, [&](std::span<std::uint8_t> plane) {
    for (std::size_t i = 0; i < plane.size(); ++i)
      plane[i] = blend(plane[i], static_cast<float>(grey[i]), factor);
  });
}

void adjust_hue(const ImageBytes& image, double turn) {
  if (image.channels != 3) return;
  const auto size = static_cast<std::size_t>(image.height * image.width);
  for (std::size_t i = 0; i < size; ++i) {
    Colour colour;
    for (std::size_t c = 0; c < 3; ++c)
      colour[c] = static_cast<float>(image.bytes[c * size + i]) / 255.0f;
    colour = turned(colour, static_cast<float>(turn));
    for (std::size_t c = 0; c < 3; ++c)
      image.bytes[c * size + i] = static_cast<std::uint8_t>(colour[c] * 255.999f);
  }
}

Augmenter::Augmenter(const AugmentOptions& options, const Dataset& data, std::uint64_t seed)
    : options_(options), active_(!names_of(options).empty()), seed_(seed ^ stream_of_augment) {
  if (!active_) return;
  require_images(data, names_of(options));
  if (options.flip > 0 || options.crop > 0 || options.cutout > 0)
    require_targets_without_places(data);
}

bool Augmenter::changes(const InputColumn& column) const { return active_ && is_image(column); }

void Augmenter::convert(const InputColumn& column, std::int64_t row, std::span<std::uint8_t> bytes,
                        float* out) const {
  const Shape& shape = column.values.shape();
  const ImageBytes image{shape[1], shape[2], shape[3], bytes};
  // 2^40 rows and 2^24 epochs have streams of their own.
  Random random(seed_, epoch_ << 40 | static_cast<std::uint64_t>(row));
  move(options_, image, random);
  colour(options_, image, random);
  column.pixels.convert(bytes, out);
  if (options_.cutout > 0) cut_out(options_.cutout, image, random, out);
}

}  // namespace mase::data
