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

/// The option image_size: a whole number, "HEIGHTxWIDTH", or not set ("NA").
struct ImageSize {
  std::int64_t height = 0;  ///< 0: not set
  std::int64_t width = 0;   ///< 0: as many columns as rows, by a cut

  bool read_field(const Tree& tree, std::string_view key, const FieldRules& rules,
                  Diagnostics& diagnostics);
  Tree write_field() const;
  static std::string field_type() { return "\"HxW\" or integer"; }
  bool is_set() const { return height > 0; }
};

/// With one number N, the shorter side becomes N pixels, and the longer one keeps the image's
/// proportions and is cut to its middle: Resize(N) and CenterCrop(N) of torchvision on images of
/// Pillow. With two, both sides become what they say: Resize((height, width)). A new pixel is the
/// mean of the old ones, weighted by a triangle around its place that is as wide as two new pixels,
/// and at least two old ones; first along the rows, then along the columns. Weights have 22
/// fraction bits and the sums are rounded. These are the pixels of Pillow before version 13, which
/// takes the columns first where the height shrinks much more; then pixels differ by 1 of 255.
Image resize(const Image& image, const ImageSize& size);

/// Resizes one image after another as `resize` does, with buffers that stay. A thread has its own.
class Resizer {
 public:
  explicit Resizer(const ImageSize& size);
  ~Resizer();

  const Image& operator()(const Image& image);  ///< valid until the next

 private:
  struct Plan;
  void filter_rows(const Image& image);
  void filter_columns(std::int64_t channels);

  ImageSize size_;
  std::unique_ptr<Plan> plan_;              ///< for the size of the last image
  std::vector<std::uint8_t> row_, narrow_;  ///< a row with padding; rows that are filtered
  std::vector<std::int32_t> sums_;
  Image out_;
};

}  // namespace mase::data
