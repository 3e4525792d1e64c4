// SPDX-License-Identifier: Apache-2.0
// Images of any size become images of one size.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/field.hpp"
#include "data/image_file.hpp"

namespace mase::data {

/// The option image_size: "SIZE" or "SIZE:MIDDLE", each a whole number or "HEIGHTxWIDTH"; or not
/// set ("NA").
struct ImageSize {
  std::int64_t height = 0;  ///< 0: not set
  std::int64_t width = 0;   ///< 0: `height` is that of the shorter side
  /// The middle that is kept; 0: as many rows and columns as the shorter side has, or all.
  std::int64_t kept_height = 0, kept_width = 0;

  bool read_field(const Tree& tree, std::string_view key, const FieldRules& rules,
                  Diagnostics& diagnostics);
  Tree write_field() const;
  static std::string field_type() { return "\"HxW\" or integer"; }
  bool is_set() const { return height > 0; }
};

/// How images are resized.
struct Resizing {
  ImageSize size;
  bool bicubic = false;  ///< otherwise bilinear
};

/// With one number N, the shorter side becomes N pixels, and the longer one keeps the image's
/// proportions and is cut to its middle: Resize(N) and CenterCrop(N) of torchvision on images of
/// Pillow. With two, both sides become what they say: Resize((height, width)). The middle that is
/// kept is that of CenterCrop. A new pixel is the mean of the old ones, weighted by a function of
/// the distance from its place, in new pixels where there are fewer of them: a triangle that ends
/// at 1, or the cubic function of Keys (1981) with a = -1/2 that ends at 2; first along the rows,
/// then along the columns. Weights have 22 fraction bits and the sums are rounded. These are the
/// pixels of Pillow before version 13, which takes the columns first where the height shrinks much
/// more; then pixels differ by 1 of 255.
Image resize(const Image& image, const Resizing& resizing);

/// Resizes one image after another as `resize` does, with buffers that stay. A thread has its own.
class Resizer {
 public:
  explicit Resizer(const Resizing& resizing);
  ~Resizer();

  const Image& operator()(const Image& image);  ///< valid until the next

 private:
  struct Plan;
  void filter_rows(const Image& image);
  void filter_columns(std::int64_t channels);

  Resizing resizing_;
  std::unique_ptr<Plan> plan_;              ///< for the size of the last image
  std::vector<std::uint8_t> row_, narrow_;  ///< a row with padding; rows that are filtered
  std::vector<std::int32_t> sums_;
  Image out_;
};

}  // namespace mase::data
