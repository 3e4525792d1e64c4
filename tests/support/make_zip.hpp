// SPDX-License-Identifier: Apache-2.0
// Zip archives with stored entries, written by hand so that tests need no zip library.
#pragma once

#include <unistd.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/file.hpp"

namespace test_zip {

using Entries = std::vector<std::pair<std::string, std::string>>;

inline std::uint32_t crc32(const std::string& bytes) {
  std::uint32_t crc = ~0U;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1U) != 0 ? 0xEDB88320U : 0U);
  }
  return ~crc;
}

inline std::string number(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i, value >>= 8) text += static_cast<char>(value);
  return text;
}

/// The fields that local header and directory entry share (APPNOTE 4.3.7 and 4.3.12).
inline std::string common_fields(const std::string& name, const std::string& bytes) {
  const auto size = static_cast<std::uint32_t>(bytes.size());
  return number(20, 2) + number(0, 8) + number(crc32(bytes), 4) + number(size, 4) +
         number(size, 4) + number(static_cast<std::uint32_t>(name.size()), 2) + number(0, 2);
}

inline std::string zip_of(const Entries& entries) {
  std::string file, directory;
  for (const auto& [name, bytes] : entries) {
    const auto offset = static_cast<std::uint32_t>(file.size());
    file += "PK\x03\x04" + common_fields(name, bytes) + name + bytes;
    directory += "PK\x01\x02" + number(20, 2) + common_fields(name, bytes) + number(0, 10) +
                 number(offset, 4) + name;
  }
  const auto count = static_cast<std::uint32_t>(entries.size());
  return file + directory + "PK\x05\x06" + number(0, 4) + number(count, 2) + number(count, 2) +
         number(static_cast<std::uint32_t>(directory.size()), 4) +
         number(static_cast<std::uint32_t>(file.size()), 4) + number(0, 2);
}

/// A file that lives as long as this object.
struct TemporaryFile {
  std::string path;
  explicit TemporaryFile(const std::string& bytes) {
    static int count = 0;
    path = (std::filesystem::temp_directory_path() /
            ("mase_archive_" + std::to_string(getpid()) + "_" + std::to_string(count++)))
               .string();
    mase::write_file(path, bytes);
  }
  ~TemporaryFile() { std::filesystem::remove(path); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
};

}  // namespace test_zip
