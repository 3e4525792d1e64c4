// SPDX-License-Identifier: Apache-2.0
// The directory of a zip archive, and the proof that it covers every byte of the file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mase {

/// In a field of 32 bits, this value means that the number's 64 bits are in the zip64 field.
inline constexpr std::uint64_t in_zip64_field = 0xFFFFFFFF;

/// One entry of a zip archive.
struct ZipEntry {
  std::string name;
  std::uint64_t size = 0;         ///< bytes when unpacked
  std::uint64_t stored_size = 0;  ///< bytes in the archive
  bool packed = false;            ///< deflated rather than stored
  std::uint32_t crc = 0;          ///< CRC-32 of the unpacked bytes
  std::uint64_t offset = 0;       ///< position of its first byte in the archive
};

std::uint32_t crc_of(std::string_view bytes);  ///< the CRC-32 of an entry

/// Refuses the archive that `origin` names: throws Error(Fault::file).
[[noreturn]] void damaged_zip(const std::string& origin, const std::string& reason);

/// Returns the entries in the order of the directory. Programs that read a zip file from its end,
/// from its beginning, or by its directory must all find exactly these entries: entries, directory
/// and end record follow each other without gaps, the headers of an entry agree, and there are no
/// comments. Error(Fault::file) otherwise, and for encrypted entries or packing methods other than
/// stored and deflate.
std::vector<ZipEntry> read_zip_directory(std::string_view bytes, const std::string& origin);

}  // namespace mase
