// SPDX-License-Identifier: Apache-2.0
// The password of a database, which must not stand in the commands of workers: other users of a
// machine see these.
#pragma once

#include <string>

namespace mase::driver {

/// The place of a study without its password.
struct DatabaseUrl {
  std::string text;
  std::string password;    ///< decoded; "" without one
  bool is_server = false;  ///< PostgreSQL
};

/// Error(Fault::config) if the password stands behind "?password=", where libpq reads it, too.
DatabaseUrl split_password(const std::string& url);

/// The password that workers need beside the URL: that of the URL, which PGPASSWORD then has for
/// this process and those that it starts, or that of PGPASSWORD. "" without one, or for a file.
std::string handed_on(const DatabaseUrl& url);

}  // namespace mase::driver
