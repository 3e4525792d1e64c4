// SPDX-License-Identifier: Apache-2.0
// Opens libraries with the dynamic loader.
#include "base/library.hpp"

#include <dlfcn.h>

#include "base/error.hpp"

namespace mase {
namespace {

/// The path of one of the program's libraries, which lie beside this one. (Bare names and the run
/// path are not enough: the address sanitizer opens libraries itself, with its own run path.)
std::string beside_this_library(const std::string& library) {
  const std::string folder = library_folder();
  return folder.empty() ? library : folder + "/" + library;
}

}  // namespace

std::string library_folder() {
  Dl_info here{};
  if (dladdr(reinterpret_cast<void*>(&open_library), &here) == 0 || !here.dli_fname) return "";
  const std::string path = here.dli_fname;
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

void* open_library(const std::string& library, const char* symbol, LibraryScope scope,
                   const std::string& what, const std::string& package) {
  void* handle = dlopen(beside_this_library(library).c_str(),
                        RTLD_NOW | (scope == LibraryScope::global ? RTLD_GLOBAL : RTLD_LOCAL));
  if (!handle)
    file_error(what + " cannot be opened: " + dlerror() + "; install " + package +
               " and rebuild (scripts/setup, scripts/build), or see `mase doctor`");
  void* found = dlsym(handle, symbol);
  if (!found) file_error(library + " does not belong to this program; rebuild it");
  return found;
}

}  // namespace mase
