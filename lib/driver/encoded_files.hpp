// SPDX-License-Identifier: Apache-2.0
// Integer codes of an array, prepared as .npy files.
#pragma once

#include <string>
#include <vector>

#include "base/array.hpp"
#include "formats/format.hpp"

namespace mase::driver {

/// An array, the path to write it to, and its key: "codes", "shared" or "scales".
struct EncodedFile {
  std::string key, path;
  Array value;
};

/// Encodes a float32 array: its codes in the smallest unsigned type that holds one, in the shape of
/// the array; for formats that have them, also the shared codes [blocks] and the float32 scales
/// [scales], for files beside `codes`: c.npy, c.shared.npy, c.scales.npy. Writes nothing. Throws
/// what Format::encode throws.
std::vector<EncodedFile> encoded_files(const formats::Format& format, const Array& values,
                                       const std::string& codes);

}  // namespace mase::driver
