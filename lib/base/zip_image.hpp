// SPDX-License-Identifier: Apache-2.0
// ZipImage: a zip archive laid out in memory and read like a file, without copies of its entries.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace mase {

/// An archive of stored entries, their directory and end records, and nothing else, so that all
/// readers of zip files see the same. Sizes are in the zip64 form, so there is no limit.
class ZipImage {
 public:
  ZipImage() = default;
  ZipImage(ZipImage&&) = default;
  ZipImage& operator=(ZipImage&&) = default;
  ZipImage(const ZipImage&) = delete;  // its pieces would be views of the other's strings
  ZipImage& operator=(const ZipImage&) = delete;

  /// Appends an entry; its bytes must outlive the image.
  void add(const std::string& name, std::string_view bytes, std::uint32_t crc);
  /// Writes the directory. Afterwards the image is complete and may be read.
  void finish();

  std::uint64_t size() const { return size_; }
  /// Copies up to `count` bytes from `position` on; returns the number of bytes copied.
  std::size_t read(std::uint64_t position, void* out, std::size_t count) const;

 private:
  struct Piece {
    std::uint64_t begin = 0;
    std::string_view bytes;
  };
  void append(std::string_view bytes);
  void append_owned(std::string bytes);

  std::deque<std::string> owned_;  ///< a deque: views of its strings stay valid
  std::vector<Piece> pieces_;
  std::uint64_t size_ = 0, entries_ = 0;
  std::string directory_;
};

}  // namespace mase
