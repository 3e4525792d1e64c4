// SPDX-License-Identifier: Apache-2.0
// ZipReader: read-only access to the entries of a zip archive in a file or in memory, on libzip.
#include "base/zip_reader.hpp"

#include <zip.h>

#include <array>
#include <filesystem>
#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"

namespace mase {

namespace {

/// Deflate cannot pack better than about 1032 : 1 (258 bytes in two bits).
constexpr std::uint64_t max_ratio = 1040;
/// Only code and other texts are packed in model archives.
constexpr std::uint64_t max_unpacked = std::uint64_t{256} << 20;

[[noreturn]] void damaged(const std::string& origin, const std::string& reason) {
  file_error(origin + ": damaged archive: " + reason +
             "; write or download the file again and check that it is complete");
}

std::string text_of(int code) {
  if (code == ZIP_ER_NOZIP)
    return "its directory, which stands at the end, is missing (truncated?)";
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  return text;
}

/// Why an entry cannot be part of a sound model archive; empty when it can.
std::string entry_problem(const zip_stat_t& stat, std::uint64_t archive_size) {
  if (stat.encryption_method != ZIP_EM_NONE) return "is encrypted";
  const bool packed = stat.comp_method == ZIP_CM_DEFLATE;
  if (!packed && stat.comp_method != ZIP_CM_STORE) return "is packed by an unusual method";
  if (stat.comp_size > archive_size) return "claims more bytes than the file has";
  if (!packed && stat.size != stat.comp_size) return "has two different sizes";
  if (packed && stat.size > max_unpacked) return "would unpack to more than 256 MiB";
  if (packed && stat.size / max_ratio > stat.comp_size) return "claims an impossible unpacked size";
  return {};
}

std::uint64_t size_of_file(const std::string& path) {
  std::error_code code;
  const std::uint64_t size = std::filesystem::file_size(path, code);
  if (code) file_error("cannot read '" + path + "': " + code.message());
  return size;
}

}  // namespace

void ZipReader::Discard::operator()(zip* archive) const { zip_discard(archive); }

ZipReader::ZipReader(zip* archive, std::string origin, std::uint64_t archive_size)
    : archive_(archive), origin_(std::move(origin)) {
  list_entries(archive_size);
}

ZipReader ZipReader::open_file(const std::string& path) {
  const std::uint64_t size = size_of_file(path);
  int code = 0;
  zip_t* archive = zip_open(path.c_str(), ZIP_RDONLY | ZIP_CHECKCONS, &code);
  if (archive == nullptr) damaged(path, text_of(code));
  return ZipReader(archive, path, size);
}

ZipReader ZipReader::open_bytes(std::string_view bytes, const std::string& origin) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
  zip_t* archive = source == nullptr
                       ? nullptr
                       : zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &error);
  if (archive == nullptr) {
    const std::string reason = text_of(zip_error_code_zip(&error));
    if (source != nullptr) zip_source_free(source);
    zip_error_fini(&error);
    damaged(origin, reason);
  }
  zip_error_fini(&error);
  return ZipReader(archive, origin, bytes.size());
}

void ZipReader::list_entries(std::uint64_t archive_size) {
  const zip_int64_t count = zip_get_num_entries(archive_.get(), 0);
  constexpr zip_uint64_t wanted =
      ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
  for (zip_int64_t i = 0; i < count; ++i) {
    zip_stat_t stat;
    zip_stat_init(&stat);
    if (zip_stat_index(archive_.get(), static_cast<zip_uint64_t>(i), ZIP_FL_ENC_RAW, &stat) != 0 ||
        (stat.valid & wanted) != wanted)
      damaged(origin_, "entry " + std::to_string(i) + " cannot be described");
    const std::string problem = entry_problem(stat, archive_size);
    if (!problem.empty()) damaged(origin_, "entry " + quote(stat.name) + " " + problem);
    entries_.push_back({stat.name, stat.size, stat.comp_size, stat.comp_method != ZIP_CM_STORE});
  }
}

template <class Sink>
void ZipReader::stream(std::size_t index, Sink&& sink) const {
  struct Close {
    void operator()(zip_file_t* file) const { zip_fclose(file); }
  };
  const ZipEntry& entry = entries_.at(index);
  std::unique_ptr<zip_file_t, Close> file(zip_fopen_index(archive_.get(), index, 0));
  if (!file) damaged(origin_, quote(entry.name) + ": " + zip_strerror(archive_.get()));
  std::array<char, 1 << 16> buffer;
  std::uint64_t total = 0;
  // The read that meets the end checks the CRC, so it must happen also after the last byte.
  while (true) {
    const zip_int64_t got = zip_fread(file.get(), buffer.data(), buffer.size());
    if (got < 0) damaged(origin_, quote(entry.name) + ": " + zip_file_strerror(file.get()));
    if (got == 0) break;
    total += static_cast<std::uint64_t>(got);
    if (total > entry.size) damaged(origin_, quote(entry.name) + " is longer than it says");
    sink(std::string_view(buffer.data(), static_cast<std::size_t>(got)));
  }
  if (total != entry.size) damaged(origin_, quote(entry.name) + " is shorter than it says");
}

std::string ZipReader::read(std::size_t index) const {
  std::string bytes;
  bytes.reserve(entries_.at(index).size);
  stream(index, [&](std::string_view part) { bytes.append(part); });
  return bytes;
}

void ZipReader::verify(std::size_t index) const {
  stream(index, [](std::string_view) {});
}

}  // namespace mase
