// SPDX-License-Identifier: Apache-2.0
// Inspects model archives: recognises other kinds of files, and checks that an archive is valid.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/zip_reader.hpp"
#include "checkpoint/archive.hpp"

namespace mase::checkpoint {

/// Throws an Error(Fault::file) if the first bytes of a file show that it is not a zip archive but
/// empty, a truncated zip, a legacy pickle or tar file, NumPy, HDF5, safetensors or text.
void require_zip(std::string_view head, std::uint64_t size, const std::string& origin);

/// The names of the entries without their common root folder. Error(Fault::file) for several root
/// folders, paths that leave the archive, and repeated names.
std::vector<std::string> names_below_root(const ZipReader& archive);

/// Makes all checks of `open_model` on an open archive, including the CRC-32 of every entry.
std::vector<std::string> check_entries(const ZipReader& archive);

/// Makes all checks of `open_tensors` on an open archive.
ArchiveKind check_tensor_entries(const ZipReader& archive);

/// The extra files under "mase/" of an open archive.
std::map<std::string, std::string> extra_files_of(const ZipReader& archive);

}  // namespace mase::checkpoint
