// SPDX-License-Identifier: Apache-2.0
// Turns a `config` table of quantize into a format per port.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/tree.hpp"
#include "formats/format.hpp"

namespace mase::passes {

/// A joined TOML key of an op, with the port and the field that it stands for.
struct JoinedKey {
  std::string key, port;
  FieldInfo field;
};

/// The keys that a `config` table with this format may have for these ports.
std::vector<JoinedKey> joined_keys(const std::vector<std::string>& ports,
                                   const formats::FormatRow& format);

/// The ports of all quantizable ops, each once.
std::vector<std::string> all_ports();

/// Reports a key such as `data_in_name`, in whose place the port has a whole format, if it is one.
bool report_name_of_port(const Tree& entry, const std::string& key,
                         const std::vector<std::string>& ports, Diagnostics& diagnostics);

/// What one selector asks for at one port.
struct PortRule {
  formats::Format format;   ///< with defaults in the fields that are left open
  Tree given;               ///< the fields that the user set, without those that are "auto"
  bool calibrated = false;  ///< the format's free field is chosen from data: it is "auto", or it is
  bool is_open = false;     ///< a binary point that was not given
  bool is_named = true;     ///< the table names the port; others get the format of the whole table
  std::vector<std::string> bounds = {};  ///< exponent_min and exponent_max, where "auto"
};

/// What one selector asks for.
struct QuantizeRule {
  std::string selector;  ///< op, node name, pattern or "default"
  SourceLocation where;
  bool leave = false;                     ///< name = "NA" or bypass: leave the node alone
  std::map<std::string, PortRule> ports;  ///< by port
  std::vector<std::string> float_ports;   ///< "NA", though all others have the table's format
};

/// The rule's port for a port of a node: the same one, or the more general one that stands for it;
/// null when it asks for neither.
const std::pair<const std::string, PortRule>* rule_of_port(const QuantizeRule& rule,
                                                           const std::string& port);

/// Reads a selector's table; `ports` are the ports that the selected nodes can have. Returns
/// nullopt after adding diagnostics when the table has problems.
std::optional<QuantizeRule> read_rule(const std::string& selector, const Tree& table,
                                      const std::vector<std::string>& ports,
                                      Diagnostics& diagnostics);

/// The selector's table with every field of every port spelled out, which reads back to the same
/// rule. It keeps "auto", and leaves out the layout of blocks when it was left open.
Tree write_rule(const QuantizeRule& rule);

}  // namespace mase::passes
