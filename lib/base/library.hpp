// SPDX-License-Identifier: Apache-2.0
// Shared libraries that are opened on first use instead of being linked.
#pragma once

#include <string>

namespace mase {

/// Whether libraries that are opened later can use the symbols of this one.
enum class LibraryScope { own, global };

/// The function `symbol` of one of the program's libraries, "libmase_NAME.so", which lies beside
/// this one and stays open until the process ends. Error(Fault::file) says that `what` cannot be
/// opened, the loader's reason, and how to get `package`; or that the library was compiled with
/// other headers than the program, so that nothing of it may be called.
void* open_library(const std::string& library, const char* symbol, LibraryScope scope,
                   const std::string& what, const std::string& package);

std::string library_folder();  ///< the folder of this program's libraries

}  // namespace mase
