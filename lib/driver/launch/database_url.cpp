// SPDX-License-Identifier: Apache-2.0
// The form of a URL is that of libpq: postgresql://USER:PASSWORD@HOST/NAME, with %XX for bytes.
#include "driver/launch/database_url.hpp"

#include <cctype>
#include <cstdlib>

#include "base/error.hpp"

namespace mase::driver {
namespace {

constexpr const char* variable = "PGPASSWORD";

/// "%40" becomes "@". What is not a code stays, and the database refuses it.
std::string decoded(const std::string& text) {
  const auto is_hex = [&](std::size_t i) {
    return i < text.size() && std::isxdigit(static_cast<unsigned char>(text[i])) != 0;
  };
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_code = text[i] == '%' && is_hex(i + 1) && is_hex(i + 2);
    out += is_code ? static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16)) : text[i];
    if (is_code) i += 2;
  }
  return out;
}

}  // namespace

DatabaseUrl split_password(const std::string& url) {
  DatabaseUrl split{url, "", url.starts_with("postgres") && url.find("://") != url.npos};
  if (!split.is_server) return split;
  if (url.find("password=", url.find('?')) != url.npos)
    config_error(
        "--storage: workers take no password=...; set PGPASSWORD, or write "
        "postgresql://USER:PASSWORD@HOST/NAME");
  const std::size_t begin = url.find("://") + 3;
  const std::size_t at = url.substr(0, url.find_first_of("/?", begin)).rfind('@');
  const std::size_t colon = url.find(':', begin);
  if (at == url.npos || colon > at) return split;
  split.password = decoded(url.substr(colon + 1, at - colon - 1));
  split.text = url.substr(0, colon) + url.substr(at);
  return split;
}

std::string handed_on(const DatabaseUrl& url) {
  if (!url.password.empty()) ::setenv(variable, url.password.c_str(), 1);
  const char* password = std::getenv(variable);
  return url.is_server && password ? password : "";
}

}  // namespace mase::driver
