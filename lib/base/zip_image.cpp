// SPDX-License-Identifier: Apache-2.0
// Writes the records of a zip archive (PKWARE's APPNOTE 6.3.10) around bytes that stay in place.
#include "base/zip_image.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "base/zip_directory.hpp"

namespace mase {
namespace {

std::string little_endian(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i, value >>= 8) text += static_cast<char>(value);
  return text;
}

constexpr std::uint64_t zip64_version = 45;  ///< version 4.5 introduced zip64
constexpr std::uint64_t name_is_utf8 = 0x800;
constexpr std::uint64_t first_day = 0x21;  ///< 1980-01-01

/// The fields that local header and directory have in common.
std::string common_fields(const std::string& name, std::uint32_t crc, std::size_t extra_size) {
  return little_endian(zip64_version, 2) + little_endian(name_is_utf8, 2) + little_endian(0, 4) +
         little_endian(first_day, 2) + little_endian(crc, 4) + little_endian(in_zip64_field, 4) +
         little_endian(in_zip64_field, 4) + little_endian(name.size(), 2) +
         little_endian(extra_size, 2);
}

std::string zip64_field(std::initializer_list<std::uint64_t> values) {
  std::string field = little_endian(1, 2) + little_endian(8 * values.size(), 2);
  for (const std::uint64_t value : values) field += little_endian(value, 8);
  return field;
}

}  // namespace

void ZipImage::append(std::string_view bytes) {
  if (bytes.empty()) return;
  pieces_.push_back({size_, bytes});
  size_ += bytes.size();
}

void ZipImage::append_owned(std::string bytes) { append(owned_.emplace_back(std::move(bytes))); }

void ZipImage::add(const std::string& name, std::string_view bytes, std::uint32_t crc) {
  MASE_CHECK(name.size() <= 0xFFFF, "the name of an entry is too long");
  const std::string local = zip64_field({bytes.size(), bytes.size()});
  const std::string listed = zip64_field({bytes.size(), bytes.size(), size_});
  directory_ += "PK\x01\x02" + little_endian(zip64_version, 2) +
                common_fields(name, crc, listed.size()) + little_endian(0, 10) +
                little_endian(in_zip64_field, 4) + name + listed;
  append_owned("PK\x03\x04" + common_fields(name, crc, local.size()) + name + local);
  append(bytes);
  ++entries_;
}

void ZipImage::finish() {
  const std::uint64_t offset = size_, length = directory_.size();
  append_owned(std::move(directory_));
  const std::string wide = "PK\x06\x06" + little_endian(44, 8) + little_endian(zip64_version, 2) +
                           little_endian(zip64_version, 2) + little_endian(0, 8) +
                           little_endian(entries_, 8) + little_endian(entries_, 8) +
                           little_endian(length, 8) + little_endian(offset, 8);
  const std::string locator =
      "PK\x06\x07" + little_endian(0, 4) + little_endian(offset + length, 8) + little_endian(1, 4);
  append_owned(wide + locator + "PK\x05\x06" + little_endian(0, 4) + little_endian(0xFFFF, 2) +
               little_endian(0xFFFF, 2) + little_endian(in_zip64_field, 4) +
               little_endian(in_zip64_field, 4) + little_endian(0, 2));
}

std::size_t ZipImage::read(std::uint64_t position, void* out, std::size_t count) const {
  std::size_t done = 0;
  auto piece = std::ranges::upper_bound(pieces_, position, {}, &Piece::begin);
  if (piece != pieces_.begin()) --piece;
  for (; piece != pieces_.end() && done < count; ++piece) {
    const std::uint64_t skipped = position + done - piece->begin;
    if (skipped >= piece->bytes.size()) break;
    const std::size_t part = std::min<std::size_t>(count - done, piece->bytes.size() - skipped);
    std::memcpy(static_cast<char*>(out) + done, piece->bytes.data() + skipped, part);
    done += part;
  }
  return done;
}

}  // namespace mase
