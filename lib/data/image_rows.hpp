// SPDX-License-Identifier: Apache-2.0
// Image files as rows of bytes: decoded by several threads, into memory or whenever they are asked
// for.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/dataset.hpp"
#include "data/image_file.hpp"

namespace mase::data {

/// What all images of a data set are like, which the first that can be read says.
struct ImageForm {
  Resizing resizing;  ///< of files, if a size is set
  std::string first;  ///< the path of the first image
  std::int64_t channels = 0, height = 0, width = 0;
  std::size_t bytes() const { return static_cast<std::size_t>(channels * height * width); }
};

/// How files are decoded.
struct ImageDecoding {
  ImageForm form;
  int threads = 1;

  using PathOf = std::function<const std::string&(std::size_t i)>;
  using PlaceOf = std::function<std::span<std::uint8_t>(std::size_t i)>;
  /// Decodes files 0 .. count - 1 into their places, channel after channel, and sets the faults of
  /// those that cannot be read. Error(Fault::file) for the first file of another form.
  void decode(std::size_t count, const PathOf& path_of, const PlaceOf& place_of,
              std::span<std::string> faults) const;
};

/// The first file that can be read, by which the others are judged; `faults` says why those before
/// cannot. Error(Fault::file) if none can.
ImageForm form_of_first(const std::vector<std::string>& paths, const Resizing& resizing,
                        std::vector<std::string>& faults);

/// Decodes all files once, a bounded number at a time, for their faults and the hash of the rows of
/// the others. Ctrl-C ends it.
std::string survey_images(const std::vector<std::string>& paths, const ImageDecoding& decoding,
                          std::vector<std::string>& faults);

/// Rows that are decoded from these files whenever they are asked for; `sha256` is their hash.
std::shared_ptr<const RowSource> rows_of_images(std::vector<std::string> paths,
                                                ImageDecoding decoding, std::string sha256);

}  // namespace mase::data
