// SPDX-License-Identifier: Apache-2.0
// The dynamic loader. Our own libraries lie beside each other in an install tree (bin/../lib/mase)
// and in a build tree (bin/../lib); the run path covers both, so that a bare name is enough.
#include "base/library.hpp"

#include <dlfcn.h>

#include "base/error.hpp"

namespace mase {

void* open_library(const std::string& library, const char* symbol, LibraryScope scope,
                   const std::string& what, const std::string& package) {
  void* handle = dlopen(library.c_str(),
                        RTLD_NOW | (scope == LibraryScope::global ? RTLD_GLOBAL : RTLD_LOCAL));
  if (!handle)
    file_error(what + " cannot be opened: " + dlerror() + "; install " + package +
               " and rebuild (scripts/setup, scripts/build), or see `mase doctor`");
  void* found = dlsym(handle, symbol);
  if (!found) file_error(library + " does not belong to this program; rebuild it");
  return found;
}

}  // namespace mase
