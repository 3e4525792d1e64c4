// SPDX-License-Identifier: Apache-2.0
// A `config` table of quantize as a format per port.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/tree.hpp"
#include "formats/format.hpp"

namespace mase::passes {

/// One joined TOML key of an op: the port and the field it stands for.
struct JoinedKey {
  std::string key, port;
  FieldInfo field;
};

/// The keys that a `config` table of `format` may have for the ports of `op`, from the two tables.
std::vector<JoinedKey> joined_keys(const std::vector<std::string>& ports,
                                   const formats::FormatRow& format);

/// Ports of every quantizable op, each once.
std::vector<std::string> all_ports();

/// What one selector asks for at one port.
struct PortRule {
  formats::Format format;   ///< with the defaults of fields that are left open
  Tree given;               ///< the fields that the user set, without those that are "auto"
  bool calibrated = false;  ///< the format's free field is chosen from data: it is "auto", or
  bool is_open = false;     ///< a binary point that was not given
};

/// What one selector asks for.
struct QuantizeRule {
  std::string selector;  ///< op, node name, pattern or "default"
  SourceLocation where;
  bool leave = false;                     ///< name = "NA" or bypass: leave the node alone
  bool every_port = false;                ///< the table names no port: it is for those there are
  std::map<std::string, PortRule> ports;  ///< by port
};

/// Reads a selector's table. `ports` are the ports the selected nodes can have. Problems become
/// diagnostics and give nullopt.
std::optional<QuantizeRule> read_rule(const std::string& selector, const Tree& table,
                                      const std::vector<std::string>& ports,
                                      Diagnostics& diagnostics);

/// The selector's table with every field of every port spelled out, but "auto" kept and the layout
/// of blocks left out where it was left open; reads back to the same rule.
Tree write_rule(const QuantizeRule& rule);

}  // namespace mase::passes
