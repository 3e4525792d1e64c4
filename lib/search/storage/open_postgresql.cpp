// SPDX-License-Identifier: Apache-2.0
// Opens PostgreSQL on first use. libpq depends on two dozen libraries, which every start of the
// program would otherwise load.
#include "base/library.hpp"
#include "search/storage/database.hpp"

namespace mase::storage {
std::unique_ptr<Database> open_postgresql(const std::string& url,
                                          std::chrono::milliseconds patience) {
  using Open = Database* (*)(const std::string& url, std::chrono::milliseconds patience);
  static const auto open =
      reinterpret_cast<Open>(open_library("libmase_postgresql.so", "mase_open_postgresql",
                                          LibraryScope::own, "PostgreSQL", "libpq-dev"));
  return std::unique_ptr<Database>(open(url, patience));
}

}  // namespace mase::storage
