// SPDX-License-Identifier: Apache-2.0
// Arrays in NumPy's archives, beside the single ones of base/array.hpp.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/array.hpp"

namespace mase {

/// The array in the bytes of an .npy file; `origin` stands for its path in messages. As read_npy.
Array parse_npy(std::string_view bytes, const std::string& origin);

/// The arrays of an .npz archive (numpy.savez or savez_compressed) by name. Error(Fault::file)
/// naming archive and entry for what is no .npy file, and for a damaged archive.
std::map<std::string, Array> read_npz(const std::string& path);

}  // namespace mase
