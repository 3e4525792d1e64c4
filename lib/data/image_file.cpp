// SPDX-License-Identifier: Apache-2.0
// Decodes PNG and JPEG. Both libraries report an error by a jump, so between the place where one
// lands and the library nothing has a destructor: buffers belong to the caller of `run`.
#include "data/image_file.hpp"

#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <jpeglib.h>
#include <png.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"

namespace mase::data {
namespace {

constexpr std::int64_t most_pixels = std::int64_t{1} << 26;
constexpr std::size_t most_image_bytes = std::size_t{1} << 30;
constexpr std::string_view png_signature("\x89PNG\r\n\x1a\n", 8);
constexpr std::string_view jpeg_signature("\xff\xd8\xff", 3);

/// Sets the size of an image; false when it is too large.
bool make_room(Image& image, std::int64_t channels, std::int64_t height, std::int64_t width) {
  if (height <= 0 || width <= 0 || height > most_pixels / width) return false;
  image.channels = channels;
  image.height = height;
  image.width = width;
  image.pixels.resize(static_cast<std::size_t>(channels * height * width));
  return true;
}

std::uint8_t* row_of(Image& image, std::int64_t row) {
  return image.pixels.data() + row * image.width * image.channels;
}

constexpr char too_large[] = "the image has more than 2^26 pixels";

/// A PNG being read.
class PngReader {
 public:
  explicit PngReader(std::string_view bytes) : bytes_(bytes) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, fail, ignore);
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
  }
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  /// Whether it succeeds; `message` says why not.
  bool run(Image& image) {
    if (info_ == nullptr) return false;
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_set_read_fn(png_, this, read);
    png_read_info(png_, info_);
    png_set_expand(png_);
    png_set_scale_16(png_);
    png_set_strip_alpha(png_);
    const int passes = png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    if (!make_room(image, png_get_channels(png_, info_), png_get_image_height(png_, info_),
                   png_get_image_width(png_, info_)))
      png_error(png_, too_large);
    for (int pass = 0; pass < passes; ++pass)
      for (std::int64_t row = 0; row < image.height; ++row)
        png_read_row(png_, row_of(image, row), nullptr);
    png_read_end(png_, nullptr);
    return true;
  }

  const char* message() const { return message_; }

 private:
  static void read(png_structp png, png_bytep out, std::size_t count) {
    auto& self = *static_cast<PngReader*>(png_get_io_ptr(png));
    if (self.bytes_.size() < count) png_error(png, "the file is cut short");
    std::memcpy(out, self.bytes_.data(), count);
    self.bytes_.remove_prefix(count);
  }
  [[noreturn]] static void fail(png_structp png, png_const_charp message) {
    auto& self = *static_cast<PngReader*>(png_get_error_ptr(png));
    std::snprintf(self.message_, sizeof self.message_, "%s", message);
    png_longjmp(png, 1);
  }
  static void ignore(png_structp, png_const_charp) {}

  std::string_view bytes_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  char message_[JMSG_LENGTH_MAX] = "out of memory";
};

/// A JPEG being read. What libjpeg-turbo only warns of, such as data that ends early, is an error.
class JpegReader {
 public:
  explicit JpegReader(std::string_view bytes) : bytes_(bytes) {
    jpeg_.err = jpeg_std_error(&errors_);
    jpeg_.client_data = this;
    errors_.error_exit = fail;
    errors_.emit_message = [](j_common_ptr jpeg, int level) {
      if (level < 0) fail(jpeg);
    };
  }
  ~JpegReader() { jpeg_destroy_decompress(&jpeg_); }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  /// Whether it succeeds; `message` says why not.
  bool run(Image& image) {
    if (setjmp(landing_) != 0) return false;
    jpeg_create_decompress(&jpeg_);
    jpeg_mem_src(&jpeg_, reinterpret_cast<const unsigned char*>(bytes_.data()), bytes_.size());
    jpeg_read_header(&jpeg_, TRUE);
    if (jpeg_.num_components != 1 && jpeg_.num_components != 3)
      return refuse("its colours are CMYK; grey, or red, green and blue are read");
    if (jpeg_.num_components == 3) jpeg_.out_color_space = JCS_RGB;
    if (!make_room(image, jpeg_.num_components, jpeg_.image_height, jpeg_.image_width))
      return refuse(too_large);
    jpeg_start_decompress(&jpeg_);
    while (jpeg_.output_scanline < jpeg_.output_height) {
      JSAMPROW row = row_of(image, jpeg_.output_scanline);
      jpeg_read_scanlines(&jpeg_, &row, 1);
    }
    jpeg_finish_decompress(&jpeg_);
    return true;
  }

  const char* message() const { return message_; }

 private:
  bool refuse(const char* why) {
    std::snprintf(message_, sizeof message_, "%s", why);
    return false;
  }
  [[noreturn]] static void fail(j_common_ptr jpeg) {
    auto& self = *static_cast<JpegReader*>(jpeg->client_data);
    self.errors_.format_message(jpeg, self.message_);
    std::longjmp(self.landing_, 1);
  }

  std::string_view bytes_;
  jpeg_decompress_struct jpeg_{};
  jpeg_error_mgr errors_{};
  std::jmp_buf landing_{};
  char message_[JMSG_LENGTH_MAX] = "";
};

template <class Reader>
void decode_with(std::string_view bytes, const std::string& path, Image& into) {
  Reader reader(bytes);
  if (!reader.run(into)) file_error(path + ": cannot read this image: " + reader.message());
}

void decode(std::string_view bytes, const std::string& path, Image& into) {
  if (bytes.starts_with(png_signature)) return decode_with<PngReader>(bytes, path, into);
  if (bytes.starts_with(jpeg_signature)) return decode_with<JpegReader>(bytes, path, into);
  file_error(path + ": cannot read this image: it is neither a PNG nor a JPEG");
}

}  // namespace

bool is_image_name(const std::string& path) {
  const std::string ending = lower_case(std::filesystem::path(path).extension().string());
  return ending == ".png" || ending == ".jpg" || ending == ".jpeg";
}

Image decode_image(std::string_view bytes, const std::string& path) {
  Image image;
  decode(bytes, path, image);
  return image;
}

void read_image(const std::string& path, Image& into) {
  decode(read_file(path, most_image_bytes), path, into);
}

Image read_image(const std::string& path) {
  Image image;
  read_image(path, image);
  return image;
}

std::string encode_png(const Image& image) {
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  png.width = static_cast<png_uint_32>(image.width);
  png.height = static_cast<png_uint_32>(image.height);
  png.format = image.channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
  std::string bytes(PNG_IMAGE_PNG_SIZE_MAX(png), '\0');
  png_alloc_size_t size = bytes.size();
  const int good =
      png_image_write_to_memory(&png, bytes.data(), &size, 0, image.pixels.data(), 0, nullptr);
  MASE_CHECK(good != 0, std::string("libpng cannot write an image: ") + png.message);
  bytes.resize(size);
  return bytes;
}

}  // namespace mase::data
