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
  std::string bytes;  ///< shape's product
};

/// Error(Fault::file) for anything but unsigned bytes with `rank` dimensions and for a file shorter
/// or longer than its header says. Never inflates more than the header declares.
IdxFile read_idx(const std::string& path, std::size_t rank);

}  // namespace mase::data
