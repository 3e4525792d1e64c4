// SPDX-License-Identifier: Apache-2.0
// ZipReader: entries of a zip archive in memory, unpacked with zlib.
#include "base/zip_reader.hpp"

#include <zlib.h>

#include <limits>
#include <utility>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"

namespace mase {

std::uint32_t crc_of(std::string_view bytes) {
  return static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

namespace {

void check_unpacked_size(const std::vector<ZipEntry>& entries, const std::string& origin) {
  std::uint64_t total = 0;
  for (const ZipEntry& entry : entries)
    if (entry.packed && __builtin_add_overflow(total, entry.size, &total)) total = UINT64_MAX;
  if (total > most_unpacked_bytes)
    file_error(origin + ": its packed entries would unpack to " + std::to_string(total) +
               " bytes, more than the limit of 256 MiB; write it without packing "
               "(numpy.savez, torch.jit.save): its own size is then the limit");
}

}  // namespace

ZipReader::ZipReader(std::string bytes, std::string origin)
    : bytes_(std::make_shared<const std::string>(std::move(bytes))),
      origin_(std::move(origin)),
      entries_(read_zip_directory(*bytes_, origin_)),
      contents_(std::make_shared<std::vector<Content>>(entries_.size())) {
  check_unpacked_size(entries_, origin_);
}

ZipReader ZipReader::open_file(const std::string& path) {
  constexpr auto any_size = std::numeric_limits<std::size_t>::max() / 4;
  return ZipReader(read_file(path, any_size), path);
}

ZipReader ZipReader::open_bytes(std::string bytes, const std::string& origin) {
  return ZipReader(std::move(bytes), origin);
}

/// Inflates an entry: exactly its stored bytes must give exactly its size.
std::string ZipReader::unpack(const ZipEntry& entry) const {
  std::string out(entry.size, '\0');
  z_stream stream{};
  if (inflateInit2(&stream, -15) != Z_OK) damaged_zip(origin_, "it cannot be unpacked");
  const std::string_view stored = std::string_view(*bytes_).substr(entry.offset, entry.stored_size);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(stored.data()));
  stream.avail_in = static_cast<uInt>(stored.size());  // packed entries are below 4 GiB
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int status = inflate(&stream, Z_FINISH);
  const bool whole = status == Z_STREAM_END && stream.avail_in == 0 && stream.avail_out == 0;
  inflateEnd(&stream);
  if (!whole)
    damaged_zip(origin_, quote(entry.name) + " does not unpack to the size that it states");
  return out;
}

std::string_view ZipReader::read(std::size_t index) const {
  const ZipEntry& entry = entries_.at(index);
  Content& content = (*contents_)[index];
  const auto bytes = [&]() -> std::string_view {
    if (entry.packed) return content.unpacked;
    return std::string_view(*bytes_).substr(entry.offset, entry.size);
  };
  if (content.verified) return bytes();
  if (entry.packed) content.unpacked = unpack(entry);
  if (crc_of(bytes()) != entry.crc)
    damaged_zip(origin_,
                quote(entry.name) + " has changed since it was written (its CRC-32 differs)");
  content.verified = true;
  return bytes();
}

}  // namespace mase
