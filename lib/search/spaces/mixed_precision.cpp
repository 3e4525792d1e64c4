// SPDX-License-Identifier: Apache-2.0
// Mixed precision: a choice of formats and their fields per node, per op type or per name pattern.
// It becomes a call of the pass `quantize`.
#include <algorithm>
#include <map>
#include <regex>
#include <set>

#include "formats/format.hpp"
#include "ir/op_table.hpp"
#include "passes/calibration/options.hpp"
#include "passes/quantization/quantize_config.hpp"
#include "search/spaces/search_space.hpp"
#include "search/spaces/selector.hpp"

namespace mase::search {
namespace {

using samplers::Params;

/// The options of quantize outside the selectors, which decide how `"auto"` fields are chosen.
struct Calibration : passes::CalibrationOptions {
  static constexpr auto fields() { return calibration_fields("calibration"); }
};

bool is_calibration(const std::string& key) {
  static const std::vector<std::string> names = field_names<Calibration>();
  return std::find(names.begin(), names.end(), key) != names.end();
}

/// Reads the seed tables for the quantizable nodes of a graph.
class PrecisionReader {
 public:
  PrecisionReader(const SpaceOptions& options, const ir::Graph& graph, Diagnostics& diagnostics)
      : by_(options.setup.by), seed_(options.seed), graph_(graph), diagnostics_(diagnostics) {
    for (const auto& [key, choices] : seed_.as_dict())
      if (is_calibration(key)) add_calibration(key);
    if (by_ == "regex_name")
      add_patterns();
    else
      check_selectors();
    for (ir::NodeId id : graph.order()) add_node(graph.node(id));
    for (const Selector& selector : selectors) check_combinations(selector, diagnostics);
  }

  samplers::Space dimensions;
  std::vector<SearchSpace::Layer> layers;
  std::vector<Selector> selectors;
  std::vector<Key> calibration;  ///< options of quantize itself

 private:
  /// Checks that every seed table names a node, an op (used with by = "type") or "default".
  void check_selectors() {
    std::vector<std::string> nodes{"default"}, ops;
    for (ir::NodeId id : graph_.order()) nodes.push_back(graph_.node(id).name);
    for (const ir::OpRow& row : ir::op_table())
      if (row.quantizable) ops.emplace_back(row.name);
    std::vector<std::string> allowed = by_ == "name" ? nodes : ops;
    const std::vector<std::string>& others = by_ == "name" ? ops : nodes;
    allowed.insert(allowed.end(), others.begin(), others.end());
    for (const auto& [name, table] : seed_.as_dict())
      if (!is_calibration(name)) report_unknown_key(table, name, allowed, diagnostics_);
  }

  void add_calibration(const std::string& key) {
    const Tree* choices = choices_of(seed_, key, diagnostics_);
    if (!choices) return;
    for (const Tree& choice : choices->as_list()) {
      Tree one = Tree::dict();
      one[key] = choice;
      Calibration checked;
      read_fields(one, checked, diagnostics_);
    }
    Key entry{key, choices->as_list(), {}, ""};
    add_dimension(entry, key, std::nullopt);
    calibration.push_back(std::move(entry));
  }

  /// Adds a selector for every pattern, in the order of the file.
  void add_patterns() {
    for (const auto& [pattern, table] : seed_.as_dict()) {
      if (pattern == "default" || is_calibration(pattern)) continue;
      try {
        Selector selector{pattern, {}, {}, "", {}, {}};
        claim_nodes(std::regex(pattern), selector);
        if (selector.ports.empty())
          diagnostics_.error(table.key_where, "'" + pattern +
                                                  "' matches the whole name of no quantizable node "
                                                  "that an earlier pattern has not matched; "
                                                  "`mase show MODEL` lists the nodes");
        else
          add_selector(std::move(selector), table);
      } catch (const std::regex_error& error) {
        diagnostics_.error(table.key_where,
                           "'" + pattern + "' is not a regular expression: " + error.what());
      }
    }
  }

  /// Claims the nodes that this pattern is the first to match, and collects their ports.
  void claim_nodes(const std::regex& pattern, Selector& selector) {
    for (const ir::NodeId id : graph_.order()) {
      const ir::Node& node = graph_.node(id);
      const ir::Classified type = ir::classify(graph_, node);
      if (!type.row || !type.row->quantizable || !std::regex_match(node.name, pattern)) continue;
      if (!claimed_.insert(node.name).second) continue;
      selector.nodes.push_back(node.name);
      for (const std::string& port : ir::port_names(*type.row))
        if (std::find(selector.ports.begin(), selector.ports.end(), port) == selector.ports.end())
          selector.ports.push_back(port);
    }
  }

  void add_node(const ir::Node& node) {
    if (claimed_.contains(node.name)) return;
    const ir::Classified type = ir::classify(graph_, node);
    const std::string& name = by_ == "type" ? type.op : node.name;
    const Tree* own = seed_.find(name);
    if (!type.row || !type.row->quantizable) {
      if (own && by_ == "name")
        diagnostics_.error(own->key_where, "node '" + name + "' (" + type.op +
                                               ") has no quantized form; `mase show MODEL` lists "
                                               "the nodes");
      return;
    }
    const auto same = [&](const Selector& selector) { return selector.name == name; };
    const auto made = std::find_if(selectors.begin(), selectors.end(), same);
    if (made != selectors.end()) return made->nodes.push_back(node.name);
    const Tree* table = own ? own : seed_.find("default");
    if (table) add_selector({name, ir::port_names(*type.row), {}, "", {}, {node.name}}, *table);
  }

  void add_selector(Selector selector, const Tree& table) {
    const Tree* config = table.find("config");
    if (!config || !config->is_dict()) {
      diagnostics_.error(table.where, "a seed needs a table 'config'");
      return;
    }
    const std::size_t first = dimensions.size();
    if (!read_formats(*config, selector)) return;
    for (const auto& [key, choices] : config->as_dict())
      if (key != "name") read_key(*config, key, selector);
    if (selector.formats.front() == no_name && selector.keys.empty()) return;
    // A pattern that leaves its nodes alone also hides them from later patterns.
    if (by_ != "regex_name" && selector.formats.size() == 1 &&
        leaves_alone(selector.formats.front()))
      return;
    add_layers(selector, first);
    selectors.push_back(std::move(selector));
  }

  /// Allocation can measure the ports of a selector separately, unless its format is a choice too.
  void add_layers(const Selector& selector, std::size_t first) {
    std::map<std::string, std::vector<std::size_t>> parts;
    const std::size_t prefix = (selector.name + "/config/").size();
    for (std::size_t i = first; i < dimensions.size(); ++i) {
      const auto port = selector.port_of(dimensions[i].name.substr(prefix));
      parts[selector.dimension.empty() && port ? "." + *port : ""].push_back(i);
    }
    for (auto& [port, members] : parts) layers.push_back({selector.name + port, members});
  }

  void add_dimension(Key& key, const std::string& name,
                     std::optional<samplers::Condition> condition) {
    search::add_dimension(key, name, std::move(condition), dimensions);
  }

  bool read_formats(const Tree& config, Selector& selector) {
    if (!config.find("name") && has_ports_alone(config)) {
      selector.formats = {no_name};
      return true;
    }
    if (!config.find("name")) {
      for (const auto& [key, choices] : config.as_dict())
        if (passes::report_name_of_port(choices, key, selector.ports, diagnostics_)) return false;
      diagnostics_.error(
          config.where,
          "a seed needs name = [formats], such as [\"integer\"], or ports with whole "
          "formats, such as data_in = [\"integer(8, 4)\"]");
      return false;
    }
    const Tree* names = choices_of(config, "name", diagnostics_);
    if (!names) return false;
    std::vector<std::string> allowed = formats::format_names();
    allowed.emplace_back("NA");
    for (const Tree& name : names->as_list()) {
      if (!name.is_string()) {
        diagnostics_.error(name.where, "a format's name must be a string");
        return false;
      }
      Tree entry = name;
      entry.key_where = name.where;
      report_unknown_key(entry, name.as_string(), allowed, diagnostics_);
      if (!leaves_alone(name) && !formats::find_format(name.as_string())) return false;
    }
    selector.formats = names->as_list();
    Key key{"name", selector.formats, {}, ""};
    add_dimension(key, selector.name + "/config/name", std::nullopt);
    selector.dimension = key.dimension;
    return true;
  }

  /// Whether each key is a port, which may be one of other nodes only.
  static bool has_ports_alone(const Tree& config) {
    const std::vector<std::string> ports = passes::all_ports();
    return config.size() > 0 && std::ranges::all_of(config.as_dict(), [&](const auto& entry) {
             return std::ranges::find(ports, entry.first) != ports.end();
           });
  }

  void read_key(const Tree& config, const std::string& key, Selector& selector) {
    const Tree* choices = choices_of(config, key, diagnostics_);
    if (!choices) return;
    Key entry{key, choices->as_list(), selector.formats_with(key), ""};
    if (entry.formats.empty()) {
      // A node without this port (such as a relu with a default for weights) ignores the key.
      if (!is_key_of_others(key, selector) &&
          !passes::report_name_of_port(*choices, key, selector.ports, diagnostics_))
        report_unknown_key(*choices, key, known_keys(selector), diagnostics_);
      return;
    }
    std::optional<samplers::Condition> condition;
    if (entry.formats.size() < selector.formats.size())
      condition = samplers::Condition{selector.dimension, entry.formats};
    add_dimension(entry, selector.name + "/config/" + key, std::move(condition));
    selector.keys.push_back(std::move(entry));
  }

  static std::vector<std::string> known_keys(const Selector& selector) {
    std::vector<std::string> keys{"name", "bypass"};
    keys.insert(keys.end(), selector.ports.begin(), selector.ports.end());
    for (const Tree& name : selector.formats)
      if (const formats::FormatRow* row = formats::find_format(name.as_string()))
        for (const auto& joined : passes::joined_keys(selector.ports, *row))
          keys.push_back(joined.key);
    return keys;
  }

  static bool is_key_of_others(const std::string& key, const Selector& selector) {
    Selector all = selector;
    all.ports = passes::all_ports();
    if (std::all_of(selector.formats.begin(), selector.formats.end(), leaves_alone))
      for (const std::string& name : formats::format_names()) all.formats.emplace_back(name);
    return !all.formats_with(key).empty();
  }

  const std::string& by_;
  const Tree& seed_;
  const ir::Graph& graph_;
  Diagnostics& diagnostics_;
  std::set<std::string> claimed_;  ///< nodes that a pattern has matched
};

class MixedPrecision : public SearchSpace {
 public:
  MixedPrecision(std::string by, PrecisionReader reader)
      : by_(std::move(by)),
        selectors_(std::move(reader.selectors)),
        calibration_(std::move(reader.calibration)) {
    dimensions_ = std::move(reader.dimensions);
    layers_ = std::move(reader.layers);
  }

  std::vector<passes::PassCall> calls(const Params& params) const override {
    Tree options = sampled_config(params);
    options["report"] = false;
    return {{"quantize", std::move(options), {}}};
  }

  Tree sampled_config(const Params& params) const override {
    Tree options = Tree::dict();
    options["by"] = by_;
    for (const Key& key : calibration_)
      if (const auto value = key.value_in(params)) options[key.key] = *value;
    options["default"]["config"]["name"] = "NA";
    for (const Selector& selector : selectors_)
      if (selector.is_chosen(params))
        options[selector.name]["config"] = selector.config(params);
      else if (by_ == "regex_name")
        options[selector.name]["config"]["name"] = "NA";
    return options;
  }

  void check_hardware(const ir::Graph& graph, integer::Contents contents,
                      Diagnostics& diagnostics) const override {
    search::check_hardware(selectors_, graph, contents, diagnostics);
  }

 private:
  std::string by_;
  std::vector<Selector> selectors_;
  std::vector<Key> calibration_;
};

std::unique_ptr<SearchSpace> make_precisions(const SpaceOptions& options, const ir::Graph& graph,
                                             Diagnostics& diagnostics) {
  return std::make_unique<MixedPrecision>(options.setup.by,
                                          PrecisionReader(options, graph, diagnostics));
}

}  // namespace

SpaceRow mixed_precision_row() {
  return {
      default_space,
      "precision",
      "Formats and their fields per node, per op type or per pattern, made by the pass quantize.",
      "mixed precision",
      {"name", "type", "regex_name"},
      make_precisions};
}

}  // namespace mase::search
