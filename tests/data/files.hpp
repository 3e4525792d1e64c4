// SPDX-License-Identifier: Apache-2.0
// A folder of its own for a test's files, removed at the end, and small IDX files.
#pragma once

#include <zlib.h>

#include <fstream>
#include <string>

#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

namespace mase::test {

/// A temporary folder whose files are written and named in one go.
class Folder {
 public:
  std::string operator/(const std::string& name) const { return folder_.file(name); }
  std::string text() const { return folder_.path(); }

  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(*this / name, std::ios::binary) << bytes;
    return *this / name;
  }

 private:
  TemporaryFolder folder_;
};

inline std::string big_endian(std::uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16),
          static_cast<char>(value >> 8), static_cast<char>(value)};
}

inline std::string gzip(const std::string& bytes) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, 16 + 15, 8, Z_DEFAULT_STRATEGY);
  std::string out(compressBound(bytes.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace mase::test
