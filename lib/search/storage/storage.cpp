// SPDX-License-Identifier: Apache-2.0
// Opens a database by its URL.
#include "search/storage/storage.hpp"

#include <cmath>

#include "base/error.hpp"
#include "search/storage/optuna_storage.hpp"

namespace mase::storage {
namespace {

std::unique_ptr<Database> open_database(const std::string& url, double seconds, Opening opening) {
  const auto patience = std::chrono::milliseconds(std::llround(seconds * 1e3));
  const std::size_t end = url.find("://");
  if (end == std::string::npos) return open_sqlite(url, patience, opening);
  const std::string scheme = url.substr(0, url.find_first_of("+:"));
  const std::string rest = url.substr(end + 3);
  if (scheme == "postgresql" || scheme == "postgres")
    return open_postgresql("postgresql://" + rest, patience);
  if (scheme == "sqlite" && rest.size() > 1 && rest[0] == '/' && rest != "/:memory:")
    return open_sqlite(rest.substr(1, rest.find('?') - 1), patience, opening);
  if (scheme == "sqlite") file_error("'sqlite://" + rest + "' names no file; write sqlite:///FILE");
  file_error("a study cannot be stored in a database of type '" + scheme +
             "'; write a file's path, sqlite:///FILE or postgresql://USER@HOST:PORT/NAME");
}

}  // namespace

std::unique_ptr<Storage> open_storage(const std::string& url, double patience) {
  return std::make_unique<OptunaStorage>(open_database(url, patience, Opening::create),
                                         Opening::create);
}

std::unique_ptr<Storage> view_storage(const std::string& url, double patience) {
  return std::make_unique<OptunaStorage>(open_database(url, patience, Opening::view),
                                         Opening::view);
}

}  // namespace mase::storage
