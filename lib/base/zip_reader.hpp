// SPDX-License-Identifier: Apache-2.0
// ZipReader: read-only access to the entries of a zip archive in a file or in memory, on libzip.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct zip;

namespace mase {

/// One entry as the central directory describes it.
struct ZipEntry {
  std::string name;
  std::uint64_t size = 0;         ///< bytes when unpacked
  std::uint64_t stored_size = 0;  ///< bytes in the archive
  bool packed = false;            ///< deflated rather than stored
};

/// Every member throws Error(Fault::file) that names `origin` when the archive is damaged.
class ZipReader {
 public:
  /// Opens with libzip's consistency check (central directory against local headers). Refuses
  /// encrypted entries, packing methods other than stored and deflate, and entries that claim more
  /// bytes than such an archive can hold.
  static ZipReader open_file(const std::string& path);
  /// The same on bytes that must outlive the reader; `origin` stands for the path in messages.
  static ZipReader open_bytes(std::string_view bytes, const std::string& origin);

  const std::vector<ZipEntry>& entries() const { return entries_; }
  /// The whole entry; its CRC-32 is verified.
  std::string read(std::size_t index) const;
  /// Reads the entry to its end without keeping it, which verifies its CRC-32.
  void verify(std::size_t index) const;
  const std::string& origin() const { return origin_; }

 private:
  struct Discard {
    void operator()(zip* archive) const;
  };

  ZipReader(zip* archive, std::string origin, std::uint64_t archive_size);
  void list_entries(std::uint64_t archive_size);
  template <class Sink>
  void stream(std::size_t index, Sink&& sink) const;

  std::unique_ptr<zip, Discard> archive_;
  std::string origin_;
  std::vector<ZipEntry> entries_;
};

}  // namespace mase
