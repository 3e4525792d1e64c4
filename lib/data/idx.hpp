// SPDX-License-Identifier: Apache-2.0
// IDX files (the format of MNIST): a big-endian header and unsigned bytes, plain or gzipped.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mase::data {

/// The contents of an IDX file of bytes.
struct IdxFile {
  std::vector<std::int64_t> shape;
  std::string bytes;  ///< as many bytes as the product of the shape
};

/// Reads a file and never inflates more than its header declares. Error(Fault::file) for anything
/// but unsigned bytes with `rank` dimensions, and when the file's length contradicts its header.
IdxFile read_idx(const std::string& path, std::size_t rank);

}  // namespace mase::data
