// SPDX-License-Identifier: Apache-2.0
// TOML text, before anybody asks what it means.
#include "config/toml.hpp"
#include "fuzz/support.hpp"
#include "fuzz/targets.hpp"

namespace mase::fuzz {

void toml(std::string_view bytes) {
  Tree file;
  if (!accepts([&] { file = config::parse_toml(bytes, "input.toml"); })) return;
  const std::string text = config::to_toml(file);
  MASE_CHECK(config::to_toml(config::parse_toml(text, "written.toml")) == text,
             "TOML reads back as something else");
}

}  // namespace mase::fuzz
