// SPDX-License-Identifier: Apache-2.0
// FileMap: a file as bytes in memory that the system reads when they are first looked at.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/descriptor.hpp"

namespace mase {

/// A regular file, read-only, that may be larger than memory. It must not change while it is used.
class FileMap {
 public:
  /// Null when the path is not that of a regular file, which cannot be mapped, or has no bytes;
  /// Error(Fault::file) when it cannot be read.
  static std::shared_ptr<const FileMap> open(const std::string& path);
  ~FileMap();
  FileMap(const FileMap&) = delete;
  FileMap& operator=(const FileMap&) = delete;

  std::string_view bytes() const { return {data_, size_}; }
  const std::string& path() const { return path_; }

  /// Copies so many bytes; `from` is inside of bytes(). A large file is read, which takes no memory
  /// besides. Error(Fault::file) when it has become shorter.
  void copy(const std::byte* from, std::size_t count, std::byte* into) const;

  /// Is told of bytes that were looked at in order. From time to time it returns the memory that
  /// those of a large file take: the system may keep them, but not on this process's account.
  void was_read(std::size_t bytes) const;
  /// Error(Fault::file) when the file has become shorter, so that its end cannot be looked at.
  void check_size() const;

  static constexpr std::size_t large = std::size_t{256}
                                       << 20;  ///< bytes; so much may stay in memory

 private:
  FileMap(const std::string& path, int file, std::size_t size);

  std::string path_;
  Descriptor file_;
  std::size_t size_;
  char* data_;
  mutable std::atomic<std::size_t> read_{0};  ///< bytes since memory was last returned
};

}  // namespace mase
