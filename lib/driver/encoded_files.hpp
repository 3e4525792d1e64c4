// SPDX-License-Identifier: Apache-2.0
// The integer codes of an array as .npy files.
#pragma once

#include <string>
#include <vector>

#include "base/array.hpp"
#include "formats/format.hpp"

namespace mase::driver {

/// An array, where it is to be written, and what it is: "codes", "shared" or "scales".
struct EncodedFile {
  std::string key, path;
  Array value;
};

/// The codes of a float32 array in the smallest unsigned type that holds one, shaped as the array;
/// for formats that have them also the shared codes [blocks] and the float32 scales [scales], in
/// files beside `codes`: c.npy, c.shared.npy, c.scales.npy. Nothing is written yet. What
/// Format::encode throws.
std::vector<EncodedFile> encoded_files(const formats::Format& format, const Array& values,
                                       const std::string& codes);

}  // namespace mase::driver
