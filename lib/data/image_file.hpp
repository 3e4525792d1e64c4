// SPDX-License-Identifier: Apache-2.0
// Images in files: PNG by libpng and JPEG by libjpeg-turbo, as pixels of 8 bits.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mase::data {

/// Row after row, the channels of a pixel side by side.
struct Image {
  std::int64_t channels = 0;  ///< 1: grey, 3: red, green, blue
  std::int64_t height = 0, width = 0;
  std::vector<std::uint8_t> pixels;
};

/// Whether a file's name ends as those of images do: .png, .jpg or .jpeg, in small letters or not.
bool is_image_name(const std::string& path);

/// Decodes a PNG or JPEG, which its first bytes tell, not its name. A palette becomes red, green
/// and blue, 16 bits become 8, and alpha is left out. Error(Fault::file) names the file when it is
/// damaged, cut short, or larger than 2^26 pixels.
Image read_image(const std::string& path);
void read_image(const std::string& path, Image& into);  ///< keeps the buffer of the last image
/// The same for bytes already read; `path` is for messages.
Image decode_image(std::string_view bytes, const std::string& path);

/// The bytes of a PNG file with this image.
std::string encode_png(const Image& image);

}  // namespace mase::data
