// SPDX-License-Identifier: Apache-2.0
// Random changes of training images. They depend on the seed, the epoch and the row alone, so that
// the batch size does not matter.
#pragma once

#include <cstdint>
#include <span>

#include "base/field.hpp"
#include "data/dataset.hpp"

namespace mase::data {

/// Which changes training images get; none by default.
struct AugmentOptions {
  double flip = 0;
  int crop = 0;
  double brightness = 0, contrast = 0, saturation = 0, hue = 0;
  int cutout = 0;
  static constexpr auto fields() {
    using A = AugmentOptions;
    return std::tuple{
        Field{"augment_flip", &A::flip, "share of training images that are mirrored"}
            .between(0.0, 1.0)
            .rare(),
        Field{"augment_crop", &A::crop,
              "training images get a black border of so many pixels and are cut to their size at "
              "a random place"}
            .between(0, 4096)
            .rare(),
        Field{"augment_brightness", &A::brightness,
              "training images are made up to this share brighter or darker"}
            .between(0.0, 10.0)
            .rare(),
        Field{"augment_contrast", &A::contrast,
              "training images get up to this share more or less contrast"}
            .between(0.0, 10.0)
            .rare(),
        Field{"augment_saturation", &A::saturation,
              "training images get up to this share more or less colour"}
            .between(0.0, 10.0)
            .rare(),
        Field{"augment_hue", &A::hue,
              "colours of training images are turned by up to this share of the colour circle"}
            .between(0.0, 0.5)
            .rare(),
        Field{"augment_cutout", &A::cutout,
              "a square of so many pixels is set to 0 at a random place of each training image"}
            .between(0, 4096)
            .rare()};
  }
};

/// The bytes of an image, channel after channel.
struct ImageBytes {
  std::int64_t channels, height, width;
  std::span<std::uint8_t> bytes;
};

/// The image moves by so many rows and columns up and left; what comes in is black.
void shift(const ImageBytes& image, std::int64_t rows, std::int64_t columns);
void mirror(const ImageBytes& image);  ///< left becomes right

/// As adjust_brightness, adjust_contrast and adjust_saturation of torchvision for uint8: between
/// the image (1) and black, its mean brightness, or its grey version (0), and beyond. The grey of
/// red, green and blue is 0.2989, 0.587 and 0.114 of them; other images have no saturation.
void adjust_brightness(const ImageBytes& image, double factor);
void adjust_contrast(const ImageBytes& image, double factor);
void adjust_saturation(const ImageBytes& image, double factor);
/// As adjust_hue of torchvision for uint8 tensors: turns the colours by this share of the circle
/// of hue, saturation and value, in float32. Images of other than three channels have no hue.
void adjust_hue(const ImageBytes& image, double turn);

/// Changes training rows as they are gathered.
class Augmenter {
 public:
  /// Error(Fault::config) when options ask for a change and the data set has no uint8 images
  /// [rows, channels, height, width], or when targets would have to move with the image.
  Augmenter(const AugmentOptions& options, const Dataset& data, std::uint64_t seed);

  /// Chooses the changes of this epoch.
  void begin(std::int64_t epoch) { epoch_ = static_cast<std::uint64_t>(epoch); }
  /// Whether rows of the column are images that are changed.
  bool changes(const InputColumn& column) const;
  /// Writes a row of such a column as a batch has it; `bytes` are scratch that holds the row.
  void convert(const InputColumn& column, std::int64_t row, std::span<std::uint8_t> bytes,
               float* out) const;

 private:
  AugmentOptions options_;
  bool active_;
  std::uint64_t seed_, epoch_ = 0;
};

}  // namespace mase::data
