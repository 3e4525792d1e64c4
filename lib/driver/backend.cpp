// Opens the LibTorch part on first use and keeps it for the life of the process.
#include "driver/backend.hpp"

#include <dlfcn.h>

#include <optional>

#include "base/file.hpp"

namespace mase::driver {
namespace {

/// Beside the program's own libraries in an install tree (bin/../lib/mase) or a build tree
/// (bin/../lib); the loader's search path (our own run path) covers both, so a bare name is enough.
constexpr const char* library_name = "libmase_torch.so";

std::optional<int> wanted_threads;
Backend* opened = nullptr;

Backend* open_backend() {
  void* library = dlopen(library_name, RTLD_NOW | RTLD_GLOBAL);
  if (!library)
    file_error(
        std::string("the LibTorch part cannot be opened: ") + dlerror() +
        "; install LibTorch and rebuild (scripts/setup, scripts/build), or see `mase doctor`");
  using Factory = Backend* (*)();
  const auto factory = reinterpret_cast<Factory>(dlsym(library, "mase_backend"));
  if (!factory) file_error("libmase_torch.so does not belong to this program; rebuild it");
  return factory();
}

}  // namespace

Backend& backend() {
  if (opened == nullptr) {
    opened = open_backend();
    if (wanted_threads) opened->set_threads(*wanted_threads);
  }
  return *opened;
}

void set_threads(int threads) {
  wanted_threads = threads;
  if (opened != nullptr) opened->set_threads(threads);
}

}  // namespace mase::driver
