// SPDX-License-Identifier: Apache-2.0
// Configuration files: settings, pipeline and search table.
#include "config/toml.hpp"
#include "driver/config_file.hpp"
#include "fuzz/support.hpp"
#include "fuzz/targets.hpp"

namespace mase::fuzz {
namespace {

/// The resolved configuration of a file; "" when the file is refused.
std::string resolved(Tree file) {
  driver::Configuration configuration;
  const bool good = accepts([&] {
    configuration = driver::read_configuration(std::move(file), "input.toml", Tree::dict());
  });
  return good ? driver::resolved_toml(configuration) : "";
}

}  // namespace

void config(std::string_view bytes) {
  Tree file;
  if (!accepts([&] { file = config::parse_toml(bytes, "input.toml"); })) return;
  const std::string once = resolved(std::move(file));
  if (once.empty()) return;
  MASE_CHECK(resolved(config::parse_toml(once, "resolved.toml")) == once,
             "a resolved configuration resolves to something else");
}

}  // namespace mase::fuzz
