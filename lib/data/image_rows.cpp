// SPDX-License-Identifier: Apache-2.0
// Threads that decode images.
#include "data/image_rows.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/interrupt.hpp"
#include "base/parallel.hpp"
#include "data/image_resize.hpp"

namespace mase::data {
namespace {

std::string size_text(std::int64_t channels, std::int64_t height, std::int64_t width) {
  return std::to_string(width) + "x" + std::to_string(height) + " pixels in " +
         (channels == 1 ? "grey" : "colour");
}

/// Error(Fault::file) for an image that is not like the first.
void require_form(const Image& image, const std::string& path, const ImageForm& form) {
  const bool same_channels = image.channels == form.channels;
  if (same_channels && image.height == form.height && image.width == form.width) return;
  file_error(path + ": the image has " + size_text(image.channels, image.height, image.width) +
             ", but " + form.first + " has " + size_text(form.channels, form.height, form.width) +
             "; the images of a data set must be alike, so " +
             (same_channels
                  ? "set image_size (--image-size), which resizes them and keeps their middle"
                  : "convert one of them"));
}

/// Writes one channel after the other.
void store(const Image& image, std::uint8_t* out) {
  const auto size = static_cast<std::size_t>(image.height * image.width);
  const auto channels = static_cast<std::size_t>(image.channels);
  for (std::size_t channel = 0; channel < channels; ++channel)
    for (std::size_t i = 0; i < size; ++i) *out++ = image.pixels[i * channels + channel];
}

/// Reads images of one size, if this is set, into buffers that stay.
class SizedReader {
 public:
  explicit SizedReader(const Resizing& resizing)
      : is_sized_(resizing.size.is_set()), resize_(resizing) {}

  const Image& operator()(const std::string& path) {  ///< valid until the next
    read_image(path, image_);
    return is_sized_ ? resize_(image_) : image_;
  }

 private:
  bool is_sized_;
  Resizer resize_;
  Image image_;
};

class ImageRows final : public RowSource {
 public:
  ImageRows(std::vector<std::string> paths, ImageDecoding decoding, std::string sha256)
      : paths_(std::move(paths)), decoding_(std::move(decoding)), sha256_(std::move(sha256)) {}

  std::int64_t count() const override { return static_cast<std::int64_t>(paths_.size()); }
  std::string sha256() const override { return sha256_; }

  void read(std::span<const std::int64_t> rows, const Use& use) const override {
    const auto make_work = [&] {
      return [&, reader = SizedReader(decoding_.form.resizing),
              bytes = std::vector<std::uint8_t>(decoding_.form.bytes())](std::size_t i) mutable {
        const std::string& path = paths_[static_cast<std::size_t>(rows[i])];
        const Image& image = reader(path);
        require_form(image, path, decoding_.form);
        store(image, bytes.data());
        use(i, bytes);
      };
    };
    for_each_index(rows.size(), decoding_.threads, make_work);
  }

 private:
  std::vector<std::string> paths_;
  ImageDecoding decoding_;
  std::string sha256_;
};

}  // namespace

void ImageDecoding::decode(std::size_t count, const PathOf& path_of, const PlaceOf& place_of,
                           std::span<std::string> faults) const {
  const auto make_work = [&] {
    return [&, reader = SizedReader(form.resizing)](std::size_t i) mutable {
      if (stop_asked()) return;
      const std::string& path = path_of(i);
      const Image* image = nullptr;
      try {
        image = &reader(path);
      } catch (const Error& error) {
        faults[i] = error.what();
        return;
      }
      require_form(*image, path, form);
      store(*image, place_of(i).data());
    };
  };
  for_each_index(count, threads, make_work);
  stop_if_asked();
}

ImageForm form_of_first(const std::vector<std::string>& paths, const Resizing& resizing,
                        std::vector<std::string>& faults) {
  for (std::size_t i = 0; i < paths.size(); ++i) {
    try {
      SizedReader reader(resizing);
      const Image& image = reader(paths[i]);
      return {resizing, paths[i], image.channels, image.height, image.width};
    } catch (const Error& error) {
      faults[i] = error.what();
    }
  }
  file_error("none of " + std::to_string(paths.size()) +
             " images can be read; the first: " + faults.front());
}

std::string survey_images(const std::vector<std::string>& paths, const ImageDecoding& decoding,
                          std::vector<std::string>& faults) {
  constexpr std::size_t piece_bytes = std::size_t{64} << 20;
  const std::size_t size = decoding.form.bytes();
  const std::size_t most = std::clamp<std::size_t>(piece_bytes / size, 1, paths.size());
  std::vector<std::uint8_t> piece(most * size);
  Sha256 hash;
  for (std::size_t first = 0; first < paths.size(); first += most) {
    const std::size_t count = std::min(most, paths.size() - first);
    const auto place_of = [&](std::size_t i) { return std::span(piece).subspan(i * size, size); };
    decoding.decode(
        count, [&](std::size_t i) -> const std::string& { return paths[first + i]; }, place_of,
        std::span(faults).subspan(first, count));
    for (std::size_t i = 0; i < count; ++i)
      if (faults[first + i].empty())
        hash.add({reinterpret_cast<const char*>(place_of(i).data()), size});
  }
  return hash.finish();
}

std::shared_ptr<const RowSource> rows_of_images(std::vector<std::string> paths,
                                                ImageDecoding decoding, std::string sha256) {
  return std::make_shared<ImageRows>(std::move(paths), std::move(decoding), std::move(sha256));
}

}  // namespace mase::data
