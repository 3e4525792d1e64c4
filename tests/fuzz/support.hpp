// SPDX-License-Identifier: Apache-2.0
// What fuzz targets share: the one answer that is allowed, and inputs as files.
#pragma once

#include <fstream>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "support/temporary_folder.hpp"

namespace mase::fuzz {

/// Whether `read` accepts its input. A refusal is an Error that blames the input; everything else
/// that is thrown passes through.
template <class Read>
bool accepts(Read&& read) {
  try {
    read();
    return true;
  } catch (const Error& error) {
    if (error.fault() == Fault::internal) throw;
    return false;
  }
}

/// The process's folder for inputs that are read as files.
inline const test::TemporaryFolder& folder() {
  static const test::TemporaryFolder folder;
  return folder;
}

/// Path of the file `name` in that folder, now with these bytes.
inline std::string stored(const std::string& name, std::string_view bytes) {
  const std::string path = folder().file(name);
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

}  // namespace mase::fuzz
