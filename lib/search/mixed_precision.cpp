// Mixed precision: per node, or per op type, a choice of formats and of their fields, made into a
// call of the pass `quantize`.
#include <algorithm>
#include <map>
#include <set>

#include "base/text.hpp"
#include "formats/format.hpp"
#include "ir/op_table.hpp"
#include "passes/transform/quantize.hpp"
#include "passes/transform/quantize_config.hpp"
#include "search/search_space.hpp"

namespace mase::search {
namespace {

using samplers::CategoricalDistribution;
using samplers::Params;

/// Most combinations of one port's keys that are tried for whether a format takes them.
constexpr std::size_t most_combinations = 100000;

/// One key of a selector: its choices, and under which choices of `name` it means something.
struct Key {
  std::string key;
  std::vector<Tree> choices;
  std::set<double> names;  ///< indices into the selector's names
  std::string dimension;   ///< "" when pinned
};

/// One seed table applied to a node or an op.
struct Selector {
  std::string name;  ///< node or op
  std::vector<std::string> ports;
  std::vector<Tree> formats;  ///< choices of `name`
  std::string dimension;      ///< of `name`; "" when pinned
  std::vector<Key> keys;

  /// Whether the parameters say anything of it; a selector without dimensions always applies.
  bool is_chosen(const Params& params) const {
    if (!dimension.empty()) return params.contains(dimension);
    const auto has = [&](const Key& key) { return params.contains(key.dimension); };
    const auto pinned = [](const Key& key) { return key.dimension.empty(); };
    return std::all_of(keys.begin(), keys.end(), pinned) ||
           std::any_of(keys.begin(), keys.end(), has);
  }
  std::size_t chosen(const Params& params) const {
    return dimension.empty() ? 0 : static_cast<std::size_t>(params.at(dimension));
  }
};

bool leaves_alone(const Tree& format) { return format == Tree("NA"); }

/// JSON scalars stand as they are; lists (block sizes) as their text, as databases want scalars.
Tree scalar(const Tree& choice) { return choice.is_list() ? Tree(to_json(choice, -1)) : choice; }

class MixedPrecision : public SearchSpace {
 public:
  MixedPrecision(const Options& options, const ir::Graph& graph, Diagnostics& diagnostics)
      : by_(options.by), diagnostics_(diagnostics) {
    if (by_ == "uniform") {
      diagnostics.error(options.where, "setup.by of mixed precision is \"name\" or \"type\"");
      return;
    }
    check_selectors(options.seed, graph);
    std::set<std::string> seen;
    for (ir::NodeId id : graph.order()) add_node(graph, graph.node(id), options.seed, seen);
    for (const Selector& selector : selectors_) check_combinations(selector);
  }

  std::vector<passes::PassCall> calls(const Params& params) const override {
    Tree options = sampled_config(params);
    options["report"] = false;
    return {{"quantize", std::move(options), {}}};
  }

  Tree sampled_config(const Params& params) const override {
    Tree options = Tree::dict();
    options["by"] = by_;
    options["default"]["config"]["name"] = "NA";
    for (const Selector& selector : selectors_)
      if (selector.is_chosen(params))
        options[selector.name]["config"] = config_of(selector, params);
    return options;
  }

 private:
  /// Every seed table must name something: a node, an op (of use when by = "type") or "default".
  void check_selectors(const Tree& seed, const ir::Graph& graph) {
    std::vector<std::string> nodes{"default"}, ops;
    for (ir::NodeId id : graph.order()) nodes.push_back(graph.node(id).name);
    for (const ir::OpRow& row : ir::op_table())
      if (row.quantizable) ops.emplace_back(row.name);
    std::vector<std::string> allowed = by_ == "name" ? nodes : ops;
    const std::vector<std::string>& others = by_ == "name" ? ops : nodes;
    allowed.insert(allowed.end(), others.begin(), others.end());
    for (const auto& [name, table] : seed.as_dict())
      report_unknown_key(table, name, allowed, diagnostics_);
  }

  void add_node(const ir::Graph& graph, const ir::Node& node, const Tree& seed,
                std::set<std::string>& seen) {
    const ir::Classified type = ir::classify(graph, node);
    const std::string& name = by_ == "name" ? node.name : type.op;
    const Tree* own = seed.find(name);
    if (!type.row || !type.row->quantizable) {
      if (own && by_ == "name")
        diagnostics_.error(own->key_where, "node '" + name + "' (" + type.op +
                                               ") has no quantized form; `mase show MODEL` lists "
                                               "the nodes");
      return;
    }
    if (!seen.insert(name).second) return;
    const Tree* table = own ? own : seed.find("default");
    if (table) add_selector(name, ir::port_names(*type.row), *table);
  }

  void add_selector(const std::string& name, std::vector<std::string> ports, const Tree& table) {
    const Tree* config = table.find("config");
    if (!config || !config->is_dict()) {
      diagnostics_.error(table.where, "a seed needs a table 'config'");
      return;
    }
    Selector selector{name, std::move(ports), {}, "", {}};
    const std::size_t first = dimensions_.size();
    if (!read_formats(*config, selector)) return;
    for (const auto& [key, choices] : config->as_dict())
      if (key != "name") read_key(*config, key, selector);
    if (selector.formats.size() == 1 && leaves_alone(selector.formats.front())) return;
    if (dimensions_.size() > first) {
      Layer layer{name, {}};
      for (std::size_t i = first; i < dimensions_.size(); ++i) layer.dimensions.push_back(i);
      layers_.push_back(std::move(layer));
    }
    selectors_.push_back(std::move(selector));
  }

  std::string add_dimension(const Selector& selector, const std::string& key,
                            const std::vector<Tree>& choices,
                            std::optional<samplers::Condition> condition) {
    CategoricalDistribution distribution;
    for (const Tree& choice : choices) distribution.choices.push_back(scalar(choice));
    dimensions_.push_back(
        {selector.name + "/config/" + key, std::move(distribution), std::move(condition)});
    return dimensions_.back().name;
  }

  bool read_formats(const Tree& config, Selector& selector) {
    if (!config.find("name")) {
      diagnostics_.error(config.where, "a seed needs name = [formats], such as [\"integer\"]");
      return false;
    }
    const Tree* names = choices_of(config, "name", diagnostics_);
    if (!names) return false;
    std::vector<std::string> allowed = formats::format_names();
    allowed.push_back("NA");
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
    if (selector.formats.size() > 1)
      selector.dimension = add_dimension(selector, "name", selector.formats, std::nullopt);
    return true;
  }

  /// Which of the selector's formats know the key.
  static std::set<double> formats_with(const Selector& selector, const std::string& key) {
    std::set<double> out;
    for (std::size_t i = 0; i < selector.formats.size(); ++i) {
      const formats::FormatRow* row = formats::find_format(selector.formats[i].as_string());
      if (!row) continue;
      const auto joined = passes::joined_keys(selector.ports, *row);
      if (key == "bypass" ||
          std::any_of(joined.begin(), joined.end(), [&](const auto& j) { return j.key == key; }) ||
          std::any_of(row->fields.begin(), row->fields.end(),
                      [&](const FieldInfo& field) { return field.name == key; }))
        out.insert(static_cast<double>(i));
    }
    return out;
  }

  void read_key(const Tree& config, const std::string& key, Selector& selector) {
    const Tree* choices = choices_of(config, key, diagnostics_);
    if (!choices) return;
    Key entry{key, choices->as_list(), formats_with(selector, key), ""};
    if (entry.names.empty()) {
      // A node without this port (a relu under a default with weights) goes without the key.
      if (is_key_of_others(key, selector)) return;
      report_unknown_key(*choices, key, known_keys(selector), diagnostics_);
      return;
    }
    if (entry.choices.size() > 1) {
      std::optional<samplers::Condition> condition;
      if (entry.names.size() < selector.formats.size())
        condition = samplers::Condition{selector.dimension, entry.names};
      entry.dimension = add_dimension(selector, key, entry.choices, std::move(condition));
    }
    selector.keys.push_back(std::move(entry));
  }

  static std::vector<std::string> known_keys(const Selector& selector) {
    std::vector<std::string> keys{"name", "bypass"};
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
    return !formats_with(all, key).empty();
  }

  static Tree config_of(const Selector& selector, const Params& params) {
    Tree config = Tree::dict();
    const std::size_t chosen = selector.chosen(params);
    config["name"] = selector.formats[chosen];
    if (leaves_alone(selector.formats[chosen])) return config;
    for (const Key& key : selector.keys) {
      if (!key.names.contains(static_cast<double>(chosen))) continue;
      const std::size_t index =
          key.dimension.empty() ? 0 : static_cast<std::size_t>(params.at(key.dimension));
      config[key.key] = key.choices[index];
    }
    return config;
  }

  /// Tries every combination of the keys of each port (and of those for all ports) under each
  /// format, so that a trial cannot fail over them.
  void check_combinations(const Selector& selector) {
    for (std::size_t format = 0; format < selector.formats.size(); ++format) {
      if (leaves_alone(selector.formats[format])) continue;
      std::map<std::string, std::vector<const Key*>> by_port;
      std::vector<const Key*> common;
      for (const Key& key : selector.keys) {
        if (!key.names.contains(static_cast<double>(format))) continue;
        const auto port = port_of(selector, key.key);
        port ? by_port[*port].push_back(&key) : common.push_back(&key);
      }
      for (auto& [port, keys] : by_port) {
        keys.insert(keys.end(), common.begin(), common.end());
        try_all(selector, selector.formats[format], keys);
      }
    }
  }

  static std::optional<std::string> port_of(const Selector& selector, const std::string& key) {
    for (const std::string& port : selector.ports)
      if (key.starts_with(port + "_")) return port;
    return std::nullopt;
  }

  void try_all(const Selector& selector, const Tree& format, const std::vector<const Key*>& keys) {
    std::size_t total = 1;
    for (const Key* key : keys) total *= key->choices.size();
    if (total > most_combinations) return;
    for (std::size_t index = 0; index < total; ++index) {
      Tree table = Tree::dict();
      Tree& config = table["config"];
      config["name"] = format;
      std::string text;
      std::size_t rest = index;
      for (const Key* key : keys) {
        const Tree& choice = key->choices[rest % key->choices.size()];
        rest /= key->choices.size();
        config[key->key] = choice;
        text += (text.empty() ? "" : ", ") + key->key + " = " + to_json(choice, -1);
      }
      if (!check_one(selector, table, keys, text)) return;
    }
  }

  bool check_one(const Selector& selector, const Tree& table, const std::vector<const Key*>& keys,
                 const std::string& text) {
    const SourceLocation& where = keys.front()->choices.front().where;
    Diagnostics own;
    const auto rule = passes::read_rule(selector.name, table, selector.ports, own);
    if (own.has_errors()) {
      diagnostics_.error(where, "seed of '" + selector.name + "': " + text +
                                    " is no format: " + own.all().front().message);
      return false;
    }
    for (const auto& [port, made] : rule->formats) warn_of_fraction(selector, port, made, where);
    return true;
  }

  /// More fraction bits than bits are legal, and rarely meant.
  void warn_of_fraction(const Selector& selector, const std::string& port,
                        const formats::Format& format, const SourceLocation& where) {
    const Tree fields = format.fields();
    const Tree *width = fields.find("width"), *fraction = fields.find("frac_width");
    if (!width || !fraction || !width->is_int() || !fraction->is_int()) return;
    if (fraction->as_int() <= width->as_int()) return;
    if (!warned_.insert(selector.name + port).second) return;
    diagnostics_.warning(where, "seed of '" + selector.name + "': " + port + " can become " +
                                    format.text() + ", with more fraction bits than bits");
  }

  std::string by_;
  std::vector<Selector> selectors_;
  std::set<std::string> warned_;
  Diagnostics& diagnostics_;
};

}  // namespace

std::unique_ptr<SearchSpace> mixed_precision_space(const Options& options, const ir::Graph& graph,
                                                   Diagnostics& diagnostics) {
  return std::make_unique<MixedPrecision>(options, graph, diagnostics);
}

}  // namespace mase::search
