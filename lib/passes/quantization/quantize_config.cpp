// SPDX-License-Identifier: Apache-2.0
// Joins ports and format fields into TOML keys and takes such keys apart again. Only this file
// knows how the two words are joined.
#include "passes/quantization/quantize_config.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "formats/format_text.hpp"
#include "ir/op_table.hpp"
#include "passes/calibration/candidates.hpp"
#include "passes/quantization/port_blocks.hpp"

namespace mase::passes {
namespace {

using field_detail::is_none;

bool is_one_of(const std::string& word, const std::vector<std::string>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// The entries of a config table, sorted by meaning.
struct SortedKeys {
  Tree common = Tree::dict();           ///< format fields for every port
  std::map<std::string, Tree> by_port;  ///< port → dict of format fields
  std::map<std::string, Tree> texts;    ///< port → a whole format, "mxint(width=4)"
};

std::vector<std::string> allowed_keys(const std::vector<std::string>& ports,
                                      const std::vector<JoinedKey>& joined,
                                      const formats::FormatRow& format) {
  std::vector<std::string> keys{"name", "bypass"};
  keys.insert(keys.end(), ports.begin(), ports.end());
  for (const JoinedKey& key : joined) keys.push_back(key.key);
  for (const FieldInfo& field : format.fields) keys.push_back(field.name);
  return keys;
}

/// Reports a key that is a port of another op, or starts with one, if it does.
bool report_port_of_another_op(const Tree& entry, const std::string& key,
                               const std::string& selector, const std::vector<std::string>& ports,
                               Diagnostics& diagnostics) {
  for (const std::string& port : all_ports()) {
    if (key != port && !key.starts_with(port + "_")) continue;
    if (is_one_of(port, ports)) continue;
    diagnostics.error(entry.key_where, "'" + selector + "' has no port '" + port + "' (option '" +
                                           key + "'); ports: " + join(ports, ", "));
    return true;
  }
  return false;
}

void report_wrong_key(const Tree& entry, const std::string& key, const std::string& selector,
                      const std::vector<std::string>& ports,
                      const std::vector<std::string>& allowed, Diagnostics& diagnostics) {
  if (!report_port_of_another_op(entry, key, selector, ports, diagnostics) &&
      !report_name_of_port(entry, key, ports, diagnostics))
    report_unknown_key(entry, key, allowed, diagnostics);
}

SortedKeys sort_keys(const std::string& selector, const std::vector<std::string>& ports,
                     const Tree& config, const std::vector<JoinedKey>& joined,
                     const formats::FormatRow& format, Diagnostics& diagnostics) {
  SortedKeys sorted;
  const std::vector<std::string> allowed = allowed_keys(ports, joined, format);
  const auto copy_to = [](Tree& target, const std::string& field, const Tree& entry) {
    target[field] = entry;
  };
  for (const auto& [key, entry] : config.as_dict()) {
    const auto match = std::find_if(joined.begin(), joined.end(),
                                    [&](const JoinedKey& j) { return j.key == key; });
    const bool is_field = std::any_of(format.fields.begin(), format.fields.end(),
                                      [&](const FieldInfo& f) { return f.name == key; });
    if (match != joined.end())
      copy_to(sorted.by_port[match->port], match->field.name, entry);
    else if (is_field)
      copy_to(sorted.common, key, entry);
    else if (is_one_of(key, ports))
      sorted.texts[key] = entry;
    else
      report_wrong_key(entry, key, selector, ports, allowed, diagnostics);
  }
  return sorted;
}

/// The fields of one port: its own take precedence over those for every port.
Tree merged(const Tree& common, const Tree& own) {
  Tree fields = common;
  for (const auto& [key, entry] : own.as_dict()) fields[key] = entry;
  return fields;
}

/// Builds a format; diagnostics name the joined key that the user wrote.
std::optional<formats::Format> make_for_port(const formats::FormatRow& row, const std::string& port,
                                             const Tree& fields, Diagnostics& diagnostics) {
  Diagnostics own;
  auto made = row.make(fields, own);
  for (const Diagnostic& diagnostic : own.all()) {
    std::string message = diagnostic.message;
    for (const FieldInfo& field : row.fields)
      message = replace_all(message, "'" + field.name + "'", "'" + port + "_" + field.name + "'");
    diagnostics.error(diagnostic.where, message);
  }
  return made;
}

bool is_auto(const Tree& value) { return value.is_string() && value.as_string() == "auto"; }

std::string auto_fields_text(const formats::FormatRow& row) {
  std::vector<std::string> fields;
  for (const FieldInfo& field : row.fields)
    if (can_be_auto(row, field.name)) fields.push_back("'" + field.name + "'");
  if (fields.empty()) return "; " + row.name + " has nothing to calibrate";
  return "; only " + join(fields, ", ") + " of " + row.name + " can";
}

/// Removes the fields that are "auto" and returns them; reports those that cannot be.
std::vector<std::string> take_auto(const formats::FormatRow& row, const std::string& port,
                                   Tree& fields, Diagnostics& diagnostics) {
  Tree given = Tree::dict();
  std::vector<std::string> taken;
  for (const auto& [key, value] : fields.as_dict()) {
    if (!is_auto(value)) {
      given[key] = value;
    } else if (can_be_auto(row, key)) {
      taken.push_back(key);
    } else {
      diagnostics.error(value.where, "option '" + port + "_" + key + "' cannot be \"auto\"" +
                                         auto_fields_text(row));
    }
  }
  fields = std::move(given);
  return taken;
}

/// True when a binary point is missing and must be chosen: the reference system's half of the width
/// is far off for most tensors.
bool leaves_point_open(const formats::FormatRow& row, const Tree& fields,
                       const formats::Format& format) {
  if (row.calibrated != binary_point || fields.find(row.calibrated)) return false;
  const Tree made = format.fields();
  const Tree* profile = made.find("profile");
  return profile && profile->as_string() == "exact";
}

/// The rule of one port, from the fields that the user gave it.
std::optional<PortRule> port_rule(const formats::FormatRow& row, const std::string& port,
                                  Tree fields, Diagnostics& diagnostics) {
  std::vector<std::string> chosen = take_auto(row, port, fields, diagnostics);
  const bool calibrated = std::erase(chosen, row.calibrated) > 0;
  const auto made = make_for_port(row, port, fields, diagnostics);
  if (!made) return std::nullopt;
  const bool is_open = !calibrated && leaves_point_open(row, fields, *made);
  PortRule rule{*made, std::move(fields), calibrated || is_open, is_open};
  rule.bounds = std::move(chosen);
  return rule;
}

bool all_none(const Tree& fields) {
  return std::all_of(fields.as_dict().begin(), fields.as_dict().end(),
                     [](const auto& entry) { return is_none(entry.second); });
}

/// The rule of a port whose whole format is written as text, which is the place of all its parts.
std::optional<PortRule> text_rule(const std::string& port, const Tree& text,
                                  Diagnostics& diagnostics) {
  if (!text.is_string()) {
    diagnostics.error(text.where, "'" + port + "' needs a format, such as \"integer(8, 4)\"");
    return std::nullopt;
  }
  try {
    auto [row, fields] = formats::read_format(text.as_string());
    Tree placed = Tree::dict();
    for (const auto& [key, value] : fields.as_dict()) {
      placed[key] = value;
      placed[key].where = placed[key].key_where = text.where;
    }
    return port_rule(*row, port, std::move(placed), diagnostics);
  } catch (const Error& error) {
    diagnostics.error(text.where, error.what());
    return std::nullopt;
  }
}

/// Adds the ports whose whole format is given; giving such a port fields too is an error.
void add_texts(const SortedKeys& sorted, QuantizeRule& rule, Diagnostics& diagnostics) {
  for (const auto& [port, text] : sorted.texts) {
    if (sorted.by_port.contains(port)) {
      diagnostics.error(text.key_where, "'" + port + "' gives a whole format, but keys such as '" +
                                            port + "_" +
                                            sorted.by_port.at(port).as_dict().front().first +
                                            "' give fields of a format; keep one of the two");
    } else if (!is_none(text)) {
      if (auto made = text_rule(port, text, diagnostics))
        rule.ports.emplace(port, std::move(*made));
    }
  }
}

const Tree* config_of(const std::string& selector, const Tree& table, Diagnostics& diagnostics) {
  if (!table.is_dict()) {
    diagnostics.error(table.where, "'" + selector + "' must be a table with a table 'config'");
    return nullptr;
  }
  for (const auto& [key, entry] : table.as_dict())
    report_unknown_key(entry, key, {"config"}, diagnostics);
  const Tree* config = table.find("config");
  if (!config || !config->is_dict()) {
    diagnostics.error(table.where, "table '" + selector + "' needs a table 'config'");
    return nullptr;
  }
  return config;
}

/// The format of a table whose keys are those of whole ports is for all other ports that hold or
/// read values; results are rounded only where a table names their port.
void add_other_ports(const formats::FormatRow& format, const std::vector<std::string>& ports,
                     const SortedKeys& sorted, QuantizeRule& rule, Diagnostics& diagnostics) {
  for (const std::string& port : ports) {
    const auto text = sorted.texts.find(port);
    if (text != sorted.texts.end() && is_none(text->second)) rule.float_ports.push_back(port);
    if ((port == "data_out" && ports.size() > 1) || text != sorted.texts.end()) continue;
    if (auto made = port_rule(format, port, sorted.common, diagnostics)) {
      made->is_named = false;
      rule.ports.emplace(port, std::move(*made));
    }
  }
}

/// True when every port of the table has its whole format, so that the table needs no name.
bool needs_no_name(const Tree& config, const std::vector<std::string>& ports) {
  bool any = false;
  for (const auto& [key, entry] : config.as_dict()) {
    if (key != "bypass" && !is_one_of(key, ports)) return false;
    any = any || key != "bypass";
  }
  return any;
}

const formats::FormatRow* format_of(const std::string& selector, const Tree& config,
                                    const std::vector<std::string>& ports,
                                    Diagnostics& diagnostics) {
  static const formats::FormatRow none{};
  const Tree* given = config.find("name");
  if (!given && needs_no_name(config, ports)) return &none;
  const Tree name = given ? *given : Tree();
  if (!given)
    for (const auto& [key, entry] : config.as_dict())
      if (report_name_of_port(entry, key, ports, diagnostics) ||
          report_port_of_another_op(entry, key, selector, ports, diagnostics))
        return nullptr;
  if (!name.is_string()) {
    diagnostics.error(name.where.line ? name.where : config.where,
                      "'" + selector + "' needs name = \"<format>\" or \"NA\", or the ports with " +
                          "whole formats: " + (ports.empty() ? "data_in" : ports.front()) +
                          " = \"integer(8, 4)\"");
    return nullptr;
  }
  const formats::FormatRow* row = formats::find_format(name.as_string());
  if (row) return row;
  diagnostics.error(name.where, "unknown format '" + name.as_string() + "'" +
                                    did_you_mean(name.as_string(), formats::format_names(), ".") +
                                    " Formats: " + join(formats::format_names(), ", "));
  return nullptr;
}

/// Translates keys of the reference system's tables: `floor` becomes a rounding, and the flag that
/// binary formats are for training is dropped, since they always are.
Tree translated(const Tree& config, const formats::FormatRow& format) {
  const auto has = [&](std::string_view field) {
    return std::ranges::any_of(format.fields, [&](const auto& f) { return f.name == field; });
  };
  const auto is_true = [](const Tree& value) { return value == Tree(true) || value == Tree(1); };
  Tree out = Tree::dict();
  for (const auto& [key, value] : config.as_dict()) {
    const bool is_floor = key == "floor" && !has("floor") && has("rounding");
    if (is_floor && is_true(value)) {
      out["rounding"] = "floor";
      out["rounding"].where = out["rounding"].key_where = value.where;
    } else if (!is_floor && (key != "binary_training" || !is_true(value))) {
      out[key] = value;
    }
  }
  out.where = config.where;
  out.key_where = config.key_where;
  return out;
}

}  // namespace

std::vector<JoinedKey> joined_keys(const std::vector<std::string>& ports,
                                   const formats::FormatRow& format) {
  std::vector<JoinedKey> keys;
  for (const std::string& port : ports)
    for (const FieldInfo& field : format.fields)
      keys.push_back({port + "_" + field.name, port, field});
  return keys;
}

bool report_name_of_port(const Tree& entry, const std::string& key,
                         const std::vector<std::string>& ports, Diagnostics& diagnostics) {
  for (const std::string& port : ports) {
    if (key != port + "_name" && key != port + "_format") continue;
    const bool is_format = entry.is_string() || entry.is_list();
    diagnostics.error(entry.key_where, "unknown option '" + key +
                                           "'; a port takes a whole format: " + port + " = " +
                                           (is_format ? to_json(entry, -1) : "\"integer(8, 4)\""));
    return true;
  }
  return false;
}

std::vector<std::string> all_ports() {
  std::vector<std::string> ports;
  for (const ir::OpRow& row : ir::op_table()) {
    if (!row.quantizable) continue;
    for (const std::string& port : ir::port_names(row))
      if (std::find(ports.begin(), ports.end(), port) == ports.end()) ports.push_back(port);
  }
  return ports;
}

const std::pair<const std::string, PortRule>* rule_of_port(const QuantizeRule& rule,
                                                           const std::string& port) {
  auto found = rule.ports.find(port);
  if (found == rule.ports.end()) found = rule.ports.find(std::string(ir::general_port(port)));
  return found == rule.ports.end() ? nullptr : &*found;
}

std::optional<QuantizeRule> read_rule(const std::string& selector, const Tree& table,
                                      const std::vector<std::string>& ports,
                                      Diagnostics& diagnostics) {
  const Tree* config = config_of(selector, table, diagnostics);
  if (!config) return std::nullopt;
  const Tree* name = config->find("name");
  QuantizeRule rule{selector, table.key_where, false, {}, {}};
  if (name && is_none(*name)) {
    rule.leave = true;
    return rule;
  }
  const formats::FormatRow* format = format_of(selector, *config, ports, diagnostics);
  if (!format) return std::nullopt;
  bool bypass = false;
  if (const Tree* entry = config->find("bypass"))
    field_detail::read_value(*entry, "bypass", {}, bypass, diagnostics);
  rule.leave = bypass;
  const SortedKeys sorted = sort_keys(selector, ports, translated(*config, *format),
                                      joined_keys(ports, *format), *format, diagnostics);
  for (const auto& [port, own] : sorted.by_port) {
    // A port whose keys are all "NA" is listed to say that it does not change.
    if (all_none(own)) continue;
    if (auto made = port_rule(*format, port, merged(sorted.common, own), diagnostics))
      rule.ports.emplace(port, std::move(*made));
  }
  add_texts(sorted, rule, diagnostics);
  if (name && sorted.by_port.empty() && !rule.leave)
    add_other_ports(*format, ports, sorted, rule, diagnostics);
  if (rule.ports.empty() && !name && !diagnostics.has_errors()) rule.leave = true;  // ports of "NA"
  if (rule.ports.empty() && !rule.leave && !diagnostics.has_errors())
    diagnostics.error(config->where, "'" + selector + "' names no port: give keys such as '" +
                                         (ports.empty() ? "data_in" : ports.front()) +
                                         "_width', or the port with its format: " +
                                         (ports.empty() ? "data_in" : ports.front()) +
                                         " = \"integer(8, 4)\"");
  return rule;
}

namespace {

/// The fields of a rule, without those that were left open, and without those of channels when all
/// channels share one value; "auto" stays.
Tree written_fields(const PortRule& rule) {
  const formats::FormatRow& row = *formats::find_format(rule.format.name());
  const Tree fields = rule.format.fields();
  Tree out = Tree::dict();
  for (const auto& [field, value] : fields.as_dict()) {
    const bool of_channels = field == granularity_field || field == row.calibrated_by_channel;
    if (is_open_layout(rule.given, field) || (of_channels && !rule.format.per_channel())) continue;
    if (rule.is_open && field == row.calibrated) continue;
    const bool is_chosen =
        (rule.calibrated && field == row.calibrated) || is_one_of(field, rule.bounds);
    out[field] = is_chosen ? Tree("auto") : value;
  }
  return out;
}

}  // namespace

Tree write_rule(const QuantizeRule& rule) {
  Tree table = Tree::dict();
  Tree& config = table["config"];
  if (rule.leave || rule.ports.empty()) {
    config["name"] = "NA";
    return table;
  }
  // Whole formats of ports need no name, which would give all other ports a format, too.
  const auto unnamed =
      std::ranges::find_if(rule.ports, [](const auto& entry) { return !entry.second.is_named; });
  const PortRule& first = (unnamed == rule.ports.end() ? rule.ports.begin() : unnamed)->second;
  const bool one_format = std::ranges::all_of(rule.ports, [&](const auto& entry) {
    return entry.second.is_named && entry.second.format.name() == first.format.name();
  });
  if (one_format || !first.is_named) config["name"] = first.format.name();
  if (!first.is_named) {
    const Tree fields = written_fields(first);
    for (const auto& [field, value] : fields.as_dict()) config[field] = value;
    for (const std::string& port : rule.float_ports) config[port] = "NA";
  }
  for (const auto& [port, wanted] : rule.ports) {
    if (!wanted.is_named) continue;
    const Tree fields = written_fields(wanted);
    if (!one_format)
      config[port] = formats::format_text(wanted.format.name(), 0, fields, Tree::dict());
    else
      for (const auto& [field, value] : fields.as_dict()) config[port + "_" + field] = value;
  }
  return table;
}

}  // namespace mase::passes
