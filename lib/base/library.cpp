// SPDX-License-Identifier: Apache-2.0
// Opens libraries with the dynamic loader, and refuses those of another build.
#include "base/library.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <string_view>

#include "base/error.hpp"
#include "base/file_map.hpp"

namespace mase {
namespace {

/// The path of one of the program's libraries, which lie beside this one. (Bare names and the run
/// path are not enough: the address sanitizer opens libraries itself, with its own run path.)
std::string beside_this_library(const std::string& library) {
  const std::string folder = library_folder();
  return folder.empty() ? library : folder + "/" + library;
}

const char* text_in(void* handle, const std::string& symbol) {
  return static_cast<const char*>(dlsym(handle, symbol.c_str()));
}

/// "cbc" of "libmase_cbc.so".
std::string name_of(const std::string& library) {
  const std::size_t from = std::string_view("libmase_").size();
  return library.substr(from, library.rfind('.') - from);
}

/// The hash of the headers that the library and its opener must have read alike, as the opener has
/// it. The function mase_opened of lib/CMakeLists.txt compiles it into both. Null in a build that
/// has no such library.
const char* expected_interface(const std::string& name) {
  return text_in(RTLD_DEFAULT, "mase_expected_" + name);
}

[[noreturn]] void refuse(const std::string& path, const char* expected) {
  Dl_info opener{};
  dladdr(expected, &opener);
  file_error(path + " is of another build than " + opener.dli_fname +
             "; build both again (scripts/build), or install the whole package again");
}

/// Whether a file has a text: the loader refuses a library that calls what is gone, and its hash
/// says why.
bool has_text(const std::string& path, const char* text) {
  const auto file = FileMap::open(path);
  return file && file->bytes().find(text) != std::string_view::npos;
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
  const std::string path = beside_this_library(library), name = name_of(library);
  const std::string remedy =
      "install " + package + " and rebuild (scripts/setup, scripts/build), or see `mase doctor`";
  const char* expected = expected_interface(name);
  if (!expected) file_error("this program was built without " + what + "; " + remedy);
  void* handle =
      dlopen(path.c_str(), RTLD_NOW | (scope == LibraryScope::global ? RTLD_GLOBAL : RTLD_LOCAL));
  if (!handle) {
    const std::string reason = dlerror();
    if (std::filesystem::exists(path) && !has_text(path, expected)) refuse(path, expected);
    file_error(what + " cannot be opened: " + reason + "; " + remedy);
  }
  const char* interface = text_in(handle, "mase_interface_" + name);
  void* found = dlsym(handle, symbol);
  if (!found || !interface || std::string_view(interface) != expected) refuse(path, expected);
  return found;
}

}  // namespace mase
