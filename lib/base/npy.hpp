// SPDX-License-Identifier: Apache-2.0
// Arrays in memory and in NumPy's archives; base/array.hpp has files with a single array.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/array.hpp"

namespace mase {

/// Like read_npy, but for the bytes of an .npy file; `origin` stands for its path in messages.
Array parse_npy(std::string_view bytes, const std::string& origin);

/// The arrays of an .npz archive (numpy.savez or savez_compressed) by name. Error(Fault::file) with
/// archive and entry when an entry is not an .npy file or the archive is damaged.
std::map<std::string, Array> read_npz(const std::string& path);

/// Writes the arrays as numpy.savez does, under their names, in this order. Atomic.
void write_npz(const std::string& path, const std::vector<std::pair<std::string, Array>>& arrays);

}  // namespace mase
