// SPDX-License-Identifier: Apache-2.0
// Devices of nodes from the user's words to the metadata and back.
#include "hardware/design/distribution.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <set>

#include "base/error.hpp"
#include "base/text.hpp"
#include "hardware/design/modules/link.hpp"

namespace mase::design {
namespace {

constexpr const char* device_key = "device_id";
/// A setting of links, and the option that says it.
struct LinkRow {
  const char* key;
  std::int64_t LinkSettings::*setting;
  std::optional<std::int64_t> DeviceOptions::*option;
};
constexpr LinkRow link_rows[] = {
    {"link_latency", &LinkSettings::latency, &DeviceOptions::link_latency},
    {"link_width", &LinkSettings::width, &DeviceOptions::link_width},
    {"link_interval", &LinkSettings::interval, &DeviceOptions::link_interval}};

std::set<std::string> layers_of(const integer::Program& program) {
  std::set<std::string> layers;
  for (const integer::Step& step : program.steps) layers.insert(step.layer);
  return layers;
}

bool matches(const std::string& pattern, const std::string& name) {
  return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

/// What metadata says of links.
Tree links_in(const Tree& hardware) {
  Tree links = Tree::dict();
  if (hardware.is_dict())
    for (const LinkRow& row : link_rows)
      if (const Tree* value = hardware.find(row.key)) links[row.key] = *value;
  return links;
}

/// A node that has hardware, at or in front of a node: what computes its value.
const ir::Node* computed_by(const ir::Graph& graph, ir::NodeId id,
                            const std::set<std::string>& layers) {
  for (;;) {
    const ir::Node& node = graph.node(id);
    if (layers.contains(node.name)) return &node;
    const std::vector<ir::NodeId> inputs = graph.inputs(id);
    if (inputs.empty()) return nullptr;
    id = inputs.front();
  }
}

/// What is wrong with a pattern that matches no node with hardware.
std::string unmatched_text(const ir::Graph& graph, const std::string& pattern,
                           const std::set<std::string>& layers) {
  const auto& order = graph.order();
  const auto found = std::ranges::find_if(
      order, [&](ir::NodeId id) { return matches(pattern, graph.node(id).name); });
  if (found == order.end())
    return pattern.find('*') == std::string::npos
               ? graph.unknown_node(pattern)
               : "no node of the graph matches '" + pattern + "'; see `mase show MODEL`";
  const std::string& name = graph.node(*found).name;
  const ir::Node* host = computed_by(graph, *found, layers);
  return "'" + name + "' has no hardware of its own" +
         (host ? "; it is computed with '" + host->name + "', so give the device of that node"
               : ", so it has no device; leave it out");
}

}  // namespace

bool DeviceChoice::read_field(const Tree& tree, std::string_view key, const FieldRules& rules,
                              Diagnostics& diagnostics) {
  FieldRules from_zero = rules;
  from_zero.low = 0;
  if (!tree.is_dict()) return field_detail::read_value(tree, key, from_zero, count, diagnostics);
  if (tree.size() == 0)
    diagnostics.error(tree.where, "option '" + std::string(key) +
                                      "' is an empty table; give the device of some node, as in "
                                      "{ \"layers_0*\" = 0, \"*\" = 1 }");
  bool good = tree.size() > 0;
  for (const auto& [pattern, device] : tree.as_dict()) {
    int& number = patterns.emplace_back(pattern, 0).second;
    good = field_detail::read_value(device, pattern, from_zero, number, diagnostics) && good;
  }
  return good;
}

Tree DeviceChoice::write_field() const {
  if (patterns.empty()) return Tree(count);
  Tree tree = Tree::dict();
  for (const auto& [pattern, device] : patterns) tree[pattern] = device;
  return tree;
}

std::string DeviceChoice::field_type() { return "integer or table"; }

Distribution stored_distribution(const ir::Graph& graph) {
  Distribution distribution;
  for (const ir::NodeId id : graph.order()) {
    const Tree& hardware = graph.node(id).meta.hardware;
    const Tree* device = hardware.find(device_key);
    if (device && device->is_int() && device->as_int() >= 0)
      distribution.devices[graph.node(id).name] = static_cast<int>(device->as_int());
  }
  DeviceOptions stored;
  Diagnostics ignored;  // of metadata that another program wrote
  read_fields(links_in(graph.node(graph.output()).meta.hardware), stored, ignored);
  if (!ignored.has_errors()) set_links(stored, distribution.links);
  return distribution;
}

void set_links(const DeviceOptions& options, LinkSettings& links) {
  for (const LinkRow& row : link_rows)
    if (const auto& given = options.*row.option) links.*row.setting = *given;
}

void write_links(const LinkSettings& links, Tree& tree) {
  for (const LinkRow& row : link_rows) tree[row.key] = links.*row.setting;
}

void store_links(ir::Graph& graph, const Design& design) {
  if (design.devices().size() > 1)
    write_links(design.distribution.links, graph.node(graph.output()).meta.hardware);
}

void check_devices(const DeviceOptions& options, const Tree& tree, Diagnostics& diagnostics) {
  if (options.link_width.value_or(0) % 8 != 0)
    diagnostics.error(tree.at("link_width").where,
                      "link_width is " + std::to_string(*options.link_width) +
                          ", but TDATA has whole bytes; give " +
                          std::to_string(tdata_bits(*options.link_width)));
}

void name_devices(const ir::Graph& graph, const integer::Program& program,
                  const DeviceChoice& choice, Distribution& distribution) {
  const std::set<std::string> layers = layers_of(program);
  std::set<std::string> named;
  for (const auto& [pattern, device] : choice.patterns) {
    bool matched = false;
    for (const std::string& layer : layers) {
      if (!matches(pattern, layer)) continue;
      matched = true;
      if (named.insert(layer).second) distribution.devices[layer] = device;
    }
    if (!matched) config_error("devices: " + unmatched_text(graph, pattern, layers));
  }
}

void complete(const integer::Program& program, Distribution& distribution) {
  auto& devices = distribution.devices;
  std::map<integer::ValueId, int> made;  // where values are
  const auto with = std::ranges::find_if(
      program.steps, [&](const integer::Step& step) { return devices.contains(step.layer); });
  if (with == program.steps.end()) return devices.clear();
  const int first = devices.at(with->layer);
  for (const integer::Step& step : program.steps) {
    const auto input = std::ranges::find_if(
        step.inputs, [&](integer::ValueId value) { return made.contains(value); });
    const int near = input == step.inputs.end() ? first : made.at(*input);
    made[step.output] = devices.emplace(step.layer, near).first->second;
  }
}

std::map<std::string, int> devices_of_nodes(const ir::Graph& graph, const Design& design) {
  std::map<std::string, int> devices;
  if (design.distribution.devices.empty()) return devices;
  for (const integer::Step& step : design.program->steps)
    devices[step.layer] = design.distribution.device(step.layer);
  const auto take = [&](ir::NodeId id, const std::vector<ir::NodeId>& neighbours) {
    for (const ir::NodeId other : neighbours)
      if (const auto found = devices.find(graph.node(other).name); found != devices.end()) {
        devices.emplace(graph.node(id).name, found->second);
        return;
      }
  };
  for (const ir::NodeId id : graph.order()) take(id, graph.inputs(id));
  const std::vector<ir::NodeId>& order = graph.order();
  for (std::size_t i = order.size(); i-- > 0;) take(order[i], graph.users(order[i]));
  return devices;
}

}  // namespace mase::design
