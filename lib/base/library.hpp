// SPDX-License-Identifier: Apache-2.0
// Shared objects that are opened on first use rather than linked.
#pragma once

#include <string>

namespace mase {

/// Whether what the library brings along can be used by libraries that are opened later.
enum class LibraryScope { own, global };

/// The function `symbol` of a library of ours, which lies beside this one and is kept for the life
/// of the process. Error(Fault::file): `what` cannot be opened, with the loader's reason and how to
/// get `package`.
void* open_library(const std::string& library, const char* symbol, LibraryScope scope,
                   const std::string& what, const std::string& package);

std::string library_folder();  ///< where the libraries of this program lie

}  // namespace mase
