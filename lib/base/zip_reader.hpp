// SPDX-License-Identifier: Apache-2.0
// ZipReader: read-only access to the entries of a zip archive that is wholly in memory.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/zip_directory.hpp"

namespace mase {

/// The most bytes to which all packed entries of an archive together may unpack; stored entries are
/// as large as their file. In model archives only code and other texts are packed.
inline constexpr std::uint64_t most_unpacked_bytes = std::uint64_t{256} << 20;

/// Every member throws Error(Fault::file) that names `origin` when the archive is damaged.
class ZipReader {
 public:
  /// Reads the whole file once, so that nobody can change it between a check and a use. Refuses
  /// what read_zip_directory refuses, and entries that unpack to too many bytes.
  static ZipReader open_file(const std::string& path);
  /// The same for bytes; `origin` stands for the path in messages.
  static ZipReader open_bytes(std::string bytes, const std::string& origin);

  const std::vector<ZipEntry>& entries() const { return entries_; }
  /// The whole entry, after a check of its CRC-32. The bytes live as long as a copy of this reader.
  std::string_view read(std::size_t index) const;
  const std::string& origin() const { return origin_; }
  std::uint64_t size() const { return bytes_->size(); }  ///< bytes of the whole archive

 private:
  ZipReader(std::string bytes, std::string origin);
  std::string unpack(const ZipEntry& entry) const;

  std::shared_ptr<const std::string> bytes_;
  std::string origin_;
  std::vector<ZipEntry> entries_;
  /// The contents of each entry, null until it is read. Copies share them.
  struct Content {
    bool verified = false;
    std::string unpacked;
  };
  std::shared_ptr<std::vector<Content>> contents_;
};

}  // namespace mase
