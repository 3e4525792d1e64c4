// SPDX-License-Identifier: Apache-2.0
// Reading IDX files.
#include "data/idx.hpp"

#include <zlib.h>

#include <algorithm>
#include <memory>

#include "base/error.hpp"
#include "base/file.hpp"

namespace mase::data {
namespace {

constexpr std::size_t most_file_bytes = std::size_t{4} << 30;
/// The most bytes to which a packed file may unpack; other files are as large as their data.
constexpr std::size_t most_gzip_bytes = std::size_t{1} << 30;

/// The decompressed bytes of a file, on demand.
class Source {
 public:
  explicit Source(const std::string& path) : path_(path), file_(read_file(path, most_file_bytes)) {
    zipped_ = file_.size() >= 2 && file_[0] == '\x1f' && file_[1] == '\x8b';
    if (!zipped_) return;
    stream_.next_in = reinterpret_cast<Bytef*>(file_.data());
    if (file_.size() > most_gzip_bytes) file_error(path + ": the packed file is larger than 1 GiB");
    stream_.avail_in = static_cast<uInt>(file_.size());
    // 16 + 15: gzip wrapper, largest window.
    if (inflateInit2(&stream_, 16 + 15) != Z_OK) file_error(path + ": cannot start to decompress");
  }
  ~Source() {
    if (zipped_) inflateEnd(&stream_);
  }
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  /// Up to `count` bytes; fewer at the end of the file.
  std::string read(std::size_t count) { return zipped_ ? inflate_some(count) : copy_some(count); }

  /// True when the gzip trailer with its checksum has been reached.
  bool complete() const { return !zipped_ || ended_; }

  /// The most bytes that the file can hold: no deflate stream expands by more than 1032 to 1.
  std::size_t most_bytes() const { return zipped_ ? file_.size() * 1032 : file_.size(); }

  void require_room(std::size_t count) const {
    if (zipped_ && count > most_gzip_bytes)
      file_error(path_ + ": would unpack to " + std::to_string(count) +
                 " bytes, more than the limit of 1 GiB for packed files; unpack it with gunzip");
  }

 private:
  std::string copy_some(std::size_t count) {
    const std::size_t begin = std::min(position_, file_.size());
    position_ = begin + std::min(count, file_.size() - begin);
    return file_.substr(begin, position_ - begin);
  }

  std::string inflate_some(std::size_t count) {
    std::string out(count, '\0');
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(count);
    while (stream_.avail_out > 0 && !ended_) {
      const int status = inflate(&stream_, Z_NO_FLUSH);
      if (status == Z_STREAM_END) ended_ = true;
      if (status == Z_BUF_ERROR) break;  // the input ended early
      if (status != Z_OK && status != Z_STREAM_END)
        file_error(path_ + ": damaged gzip data" +
                   (stream_.msg ? std::string(" (") + stream_.msg + ")" : ""));
    }
    out.resize(count - stream_.avail_out);
    return out;
  }

  std::string path_, file_;
  bool zipped_ = false, ended_ = false;
  std::size_t position_ = 0;
  z_stream stream_{};
};

std::int64_t big_endian(std::string_view bytes) {
  std::int64_t value = 0;
  for (char c : bytes) value = value * 256 + static_cast<unsigned char>(c);
  return value;
}

}  // namespace

IdxFile read_idx(const std::string& path, std::size_t rank) {
  Source source(path);
  const std::string header = source.read(4 + 4 * rank);
  if (header.size() < 4 + 4 * rank) file_error(path + ": too short for an IDX file");
  // Two zero bytes, type 8 (unsigned byte), number of dimensions.
  if (big_endian(header.substr(0, 4)) != 0x0800 + static_cast<std::int64_t>(rank))
    file_error(path + ": this is not an IDX file of unsigned bytes with " + std::to_string(rank) +
               " dimension" + (rank > 1 ? "s" : ""));
  IdxFile idx;
  std::size_t size = 1;
  for (std::size_t i = 0; i < rank; ++i) {
    idx.shape.push_back(big_endian(header.substr(4 + 4 * i, 4)));
    const auto count = static_cast<std::size_t>(idx.shape.back());
    if (count == 0) file_error(path + ": the header says that a dimension is empty");
    if (count > source.most_bytes() / size)
      file_error(path + ": the header promises more data than the file can hold; truncated?");
    size *= count;
  }
  source.require_room(size);
  idx.bytes = source.read(size);
  if (idx.bytes.size() != size)
    file_error(path + ": truncated; the header promises " + std::to_string(size) +
               " bytes of data, but there are " + std::to_string(idx.bytes.size()));
  if (!source.read(1).empty()) file_error(path + ": the file has more data than its header says");
  if (!source.complete()) file_error(path + ": truncated; the end of the gzip data is missing");
  return idx;
}

}  // namespace mase::data
