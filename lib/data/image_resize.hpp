// SPDX-License-Identifier: Apache-2.0
// Images of any size become squares of one size.
#pragma once

#include "data/image_file.hpp"

namespace mase::data {

/// The shorter side becomes `size` pixels, and the longer one keeps the image's proportions and is
/// cut to its middle: Resize(size) and CenterCrop(size) of torchvision on images of Pillow. A new
/// pixel is the mean of the old ones, weighted by a triangle around its place that is as wide as
/// two new pixels, and at least two old ones; first along the rows, then along the columns, and
/// rounded after each. Torchvision's own values may differ by 1 of 255.
Image resize_and_crop(const Image& image, std::int64_t size);

}  // namespace mase::data
