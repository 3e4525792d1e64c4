// PostgreSQL is opened on first use: libpq brings two dozen libraries along, and every start of the
// program would load them.
#include <dlfcn.h>

#include "base/error.hpp"
#include "storage/database.hpp"

namespace mase::storage {
namespace {

using Open = Database* (*)(const std::string& url, std::chrono::milliseconds lock_timeout);

Open load() {
  void* library = dlopen("libmase_postgresql.so", RTLD_NOW | RTLD_LOCAL);
  void* open = library ? dlsym(library, "mase_open_postgresql") : nullptr;
  if (!open)
    file_error(std::string("PostgreSQL cannot be used: ") + dlerror() +
               "; install libpq-dev and rebuild (scripts/setup, scripts/build)");
  return reinterpret_cast<Open>(open);
}

}  // namespace

std::unique_ptr<Database> open_postgresql(const std::string& url,
                                          std::chrono::milliseconds lock_timeout) {
  static const Open open = load();
  return std::unique_ptr<Database>(open(url, lock_timeout));
}

}  // namespace mase::storage
