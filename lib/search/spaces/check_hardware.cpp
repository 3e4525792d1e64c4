// SPDX-License-Identifier: Apache-2.0
// Looks for choices without a datapath before the first trial, by lowering nodes alone.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"
#include "hardware/integer/datapath.hpp"
#include "ir/op_table.hpp"
#include "passes/calibration/candidates.hpp"
#include "passes/quantization/quantize_config.hpp"
#include "passes/quantization/quantize_ports.hpp"
#include "search/spaces/selector.hpp"

namespace mase::search {
namespace {

using Formats = std::map<std::string, formats::Format>;

/// What neighbours have, and nodes that are compared with: it has a datapath wherever one exists.
const formats::Format& plain() {
  static const formats::Format format = formats::parse_format("integer(8, 4)");
  return format;
}

constexpr const char* result_port = "data_out";

std::string text_of(const Formats& formats) {
  std::vector<std::string> texts;
  for (const auto& [port, format] : formats) texts.push_back(port + " = " + format.short_text());
  return join(texts, ", ");
}

/// Why a graph has no datapath, in one line; "" when it has one.
std::string refusal_of(const ir::Graph& graph, integer::Contents contents) {
  try {
    integer::lower(graph, contents);
    return "";
  } catch (const Error& error) {
    if (error.fault() == Fault::internal) throw;
    const std::string text = error.what(), start = "\n  ";
    const std::size_t first = text.find(start);
    if (first == std::string::npos) return text;
    const std::size_t begin = first + start.size();
    return text.substr(begin, text.find('\n', begin) - begin);
  }
}

bool is_float(const ir::ValueInfo& info) {
  return info.is_tensor() && info.dtype == DType::float32;
}

/// A node cut out of a graph: what it reads are inputs, and its result is the result.
class LoneNode {
 public:
  LoneNode(const ir::Graph& graph, const ir::Node& node, integer::Contents contents)
      : graph_(graph), id_(node.id), contents_(contents) {
    for (const ir::NodeId input : graph.inputs(id_)) cut(graph_.node(input));
    ir::Node& output = graph_.node(graph_.output());
    *output.find("value") = ir::Value(ir::NodeRef{id_});
    output.info = node.info;
    graph_.remove_dead_nodes();
    for (const ir::NodeId id : graph_.placeholders())
      if (graph_.users(id).empty()) graph_.erase(id);
    ir::remove_unused_tensors(graph_);
    for (const std::string& port : passes::float_ports(graph_, graph_.node(id_)))
      if (port != result_port) plain_.emplace(port, plain());
  }

  /// Why it has no datapath with these formats; "" when it has one, or has none with integers.
  const std::string& refusal(const Formats& formats) {
    const auto [found, fresh] = refusals_.try_emplace(text_of(formats));
    if (!fresh) return found->second;
    const std::string reason = tried(formats);
    if (!reason.empty() && tried(plain_).empty()) found->second = reason;
    return found->second;
  }

 private:
  static void cut(ir::Node& node) {
    if (node.kind == ir::NodeKind::get_attr) return;
    node.kind = ir::NodeKind::placeholder;
    node.target = node.name;
    node.op.clear();
    node.args.clear();
    node.body = nullptr;
    node.formats.clear();
  }

  /// The result goes to a reader of integers, or is exact.
  std::string tried(Formats formats) {
    give_inputs(formats);
    const bool rounds = !formats.contains(result_port) && is_float(graph_.node(id_).info);
    if (rounds) formats.emplace(result_port, plain());
    graph_.node(id_).formats = formats;
    const std::string reason = refusal_of(graph_, contents_);
    if (!rounds || reason.empty()) return reason;
    graph_.node(id_).formats.erase(result_port);
    return refusal_of(graph_, contents_).empty() ? "" : reason;
  }

  /// Inputs have a format of their own where no port of the node gives them one.
  void give_inputs(const Formats& formats) {
    for (const ir::NodeId id : graph_.placeholders()) graph_.node(id).formats.clear();
    for (const ir::Port& port : ir::ports(graph_, graph_.node(id_)))
      port.value.for_each_node([&](ir::NodeId id) {
        ir::Node& input = graph_.node(id);
        if (input.kind == ir::NodeKind::placeholder && is_float(input.info) &&
            !formats.contains(port.name))
          input.formats.insert_or_assign(result_port, plain());
      });
  }

  ir::Graph graph_;
  ir::NodeId id_;
  integer::Contents contents_;
  Formats plain_;
  std::map<std::string, std::string> refusals_;
};

/// A format that data will complete, as they might: with one value of the field that is calibrated
/// where it has none, and with as few exponents as it may have.
formats::Format completed(const passes::PortRule& wanted) {
  formats::Format format = wanted.format;
  const FieldInfo* field = passes::calibrated_field(*formats::find_format(format.name()));
  if (wanted.calibrated && !format.fields().at(field->name).is_number())
    format = passes::candidates(format, 1).front().format;
  for (const std::string& bound : wanted.bounds) {
    const bool is_min = bound == passes::exponent_min;
    const Tree other = format.fields().at(is_min ? passes::exponent_max : passes::exponent_min);
    const Tree value = other.is_int() ? other : Tree(0);
    if (const auto bounded = passes::with_field(format, bound, value)) format = *bounded;
  }
  return format;
}

/// The formats that a selector's table gives a node.
Formats formats_of(const passes::QuantizeRule& rule, const ir::Graph& graph, const ir::Node& node) {
  Formats formats;
  if (rule.leave) return formats;
  for (const std::string& port : passes::float_ports(graph, node))
    if (const auto* wanted = passes::rule_of_port(rule, port))
      formats.emplace(port, completed(wanted->second));
  return formats;
}

/// The nodes of a selector: each alone, and where it has several all of them beside the others.
class Nodes {
 public:
  /// `whole` has a datapath with integers at all selectors' nodes; null where it has none.
  Nodes(const Selector& selector, const ir::Graph& graph, const ir::Graph* whole,
        integer::Contents contents)
      : selector_(selector), graph_(graph), whole_(whole), contents_(contents) {
    for (const std::string& name : selector.nodes)
      alone_.emplace_back(graph, *graph.find_node(name), contents);
  }

  /// Why one of them has no datapath with the formats of a rule; "" where all have one.
  std::string refusal(const passes::QuantizeRule& rule) {
    bool wide = false;
    std::vector<Formats> formats;
    for (std::size_t i = 0; i < alone_.size(); ++i) {
      formats.push_back(formats_of(rule, graph_, *graph_.find_node(selector_.nodes[i])));
      if (const std::string& reason = alone_[i].refusal(formats.back()); !reason.empty())
        return reason;
      wide = wide || !are_narrow(formats.back());
    }
    return whole_ && wide && alone_.size() > 1 ? refusal_together(formats) : "";
  }

 private:
  /// Integers whose exact products and sums are far from the limits of a datapath.
  static bool are_narrow(const Formats& formats) {
    constexpr int narrow = 16;
    return std::ranges::all_of(formats, [](const auto& entry) {
      if (integer::rounds_to_levels(entry.second)) return false;
      return integer::weight_grid_of(entry.second).grid.type.width <= narrow;
    });
  }

  /// A node of others may have none because of its own choices: that says nothing of these.
  std::string refusal_together(const std::vector<Formats>& formats) const {
    ir::Graph graph = *whole_;
    for (std::size_t i = 0; i < formats.size(); ++i)
      graph.node(graph.find_node(selector_.nodes[i])->id).formats = formats[i];
    const std::string reason = refusal_of(graph, contents_);
    const auto is_named = [&](const std::string& name) {
      return reason.starts_with("node '" + name + "'");
    };
    return std::ranges::any_of(selector_.nodes, is_named) ? reason : "";
  }

  const Selector& selector_;
  const ir::Graph& graph_;
  const ir::Graph* whole_;
  integer::Contents contents_;
  std::vector<LoneNode> alone_;
};

/// A choice of a key, by their indices.
struct Choice {
  std::size_t key = 0, index = 0;
};

/// The choices of a selector under one of its formats.
class FormatCheck {
 public:
  FormatCheck(const Selector& selector, std::size_t format, Nodes& nodes, Diagnostics& diagnostics)
      : selector_(selector),
        format_(selector.formats[format]),
        nodes_(nodes),
        diagnostics_(diagnostics) {
    for (const Key& key : selector.keys)
      if (key.formats.contains(static_cast<double>(format))) keys_.push_back(&key);
  }

  /// The rule with these choices and the first ones of all other keys; nothing where these make no
  /// formats, which check_combinations reports.
  std::optional<passes::QuantizeRule> rule(const std::vector<Choice>& choices) const {
    Tree table = Tree::dict();
    Tree& config = table["config"];
    add_name(format_, config);
    for (const Key* key : keys_) config[key->key] = key->choices.front();
    for (const auto& [key, index] : choices) config[keys_[key]->key] = keys_[key]->choices[index];
    Diagnostics own;
    auto rule = passes::read_rule(selector_.name, table, selector_.ports, own);
    if (own.has_errors()) rule.reset();
    return rule;
  }

  void run() {
    std::vector<Choice> refused, alone;
    for (std::size_t key = 0; key < keys_.size(); ++key)
      for (std::size_t index = 0; index < keys_[key]->choices.size(); ++index)
        if (!refusal({{key, index}}).empty())
          (works_with_another({key, index}) ? alone : refused).push_back({key, index});
    const std::string first = refusal({});
    if (!first.empty() && alone.empty()) {
      const bool named = format_ != no_name;
      diagnostics_.error(named ? format_.where : keys_.front()->choices.front().where,
                         "seed of '" + selector_.name + "'" +
                             (named ? ": name = " + to_json(format_, -1) : "") + no_hardware +
                             first);
      return;
    }
    for (const Choice& choice : refused) report(choice, no_hardware);
    if (!first.empty()) return;
    for (const Choice& choice : alone)
      report(choice, " has no hardware beside the first choices of the other keys: ");
  }

 private:
  static constexpr const char* no_hardware =
      " has no hardware, which the runner 'hardware' measures: ";
  /// Whether another choice of some other key gives the nodes a datapath.
  bool works_with_another(const Choice& choice) {
    for (std::size_t key = 0; key < keys_.size(); ++key)
      for (std::size_t index = 1; key != choice.key && index < keys_[key]->choices.size(); ++index)
        if (refusal({choice, {key, index}}).empty()) return true;
    return false;
  }

  std::string refusal(const std::vector<Choice>& choices) {
    const auto tried = rule(choices);
    return tried ? nodes_.refusal(*tried) : "";
  }

  void report(const Choice& choice, const std::string& what) {
    const Key& key = *keys_[choice.key];
    const Tree& value = key.choices[choice.index];
    const std::string text = "seed of '" + selector_.name + "': " + key.key + " = " +
                             to_json(value, -1) + what + refusal({choice});
    if (what == no_hardware)
      diagnostics_.error(value.where, text);
    else
      diagnostics_.warning(value.where, text);
  }

  const Selector& selector_;
  const Tree& format_;
  Nodes& nodes_;
  Diagnostics& diagnostics_;
  std::vector<const Key*> keys_;
};

/// The graph with integers at the ports for which the selectors choose formats.
ir::Graph with_integers(const std::vector<Selector>& selectors, ir::Graph graph) {
  for (const Selector& selector : selectors)
    for (const std::string& name : selector.nodes) {
      ir::Node& node = graph.node(graph.find_node(name)->id);
      for (const std::string& port : passes::float_ports(graph, node))
        if (port != result_port) node.formats.insert_or_assign(port, plain());
    }
  return graph;
}

}  // namespace

void check_hardware(const std::vector<Selector>& selectors, const ir::Graph& graph,
                    integer::Contents contents, Diagnostics& diagnostics) {
  const ir::Graph whole = with_integers(selectors, graph);
  const bool has_datapath = refusal_of(whole, contents).empty();
  for (const Selector& selector : selectors) {
    Nodes nodes(selector, graph, has_datapath ? &whole : nullptr, contents);
    for (std::size_t format = 0; format < selector.formats.size(); ++format)
      FormatCheck(selector, format, nodes, diagnostics).run();
  }
}

}  // namespace mase::search
