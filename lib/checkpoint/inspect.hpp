// SPDX-License-Identifier: Apache-2.0
// Inspection of model archives: what a file is when it is not one, and whether one is sound.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/zip_reader.hpp"
#include "checkpoint/archive.hpp"

namespace mase::checkpoint {

/// Throws Error(Fault::file) when the first bytes of a file show that it is no zip archive: empty,
/// a truncated zip, a legacy pickle or tar file, NumPy, HDF5, safetensors, text.
void require_zip(std::string_view head, std::uint64_t size, const std::string& origin);

/// The entry names without the one root folder; Error(Fault::file) for several root folders, paths
/// that leave the archive, and names that occur twice.
std::vector<std::string> names_below_root(const ZipReader& archive);

/// All checks of `open_model` on an open archive, every entry's CRC-32 included.
std::vector<std::string> check_entries(const ZipReader& archive);

/// All checks of `open_tensors` on an open archive.
ArchiveKind check_tensor_entries(const ZipReader& archive);

/// The extra files under "mase/" of an open archive.
std::map<std::string, std::string> extra_files_of(const ZipReader& archive);

}  // namespace mase::checkpoint
