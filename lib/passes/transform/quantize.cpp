// SPDX-License-Identifier: Apache-2.0
// Selects nodes, puts formats on their ports, and notes settings that could not be applied.
#include "passes/transform/quantize.hpp"

#include <algorithm>
#include <cmath>
#include <regex>
#include <set>

#include "base/text.hpp"
#include "ir/custom_op.hpp"
#include "ir/metadata.hpp"
#include "ir/op_table.hpp"
#include "passes/calibration/calibrator.hpp"
#include "passes/calibration/exponent_range.hpp"
#include "passes/quantization/finite_masks.hpp"
#include "passes/quantization/float_share.hpp"
#include "passes/quantization/port_blocks.hpp"
#include "passes/quantization/quantize_config.hpp"
#include "passes/quantization/quantize_ports.hpp"
#include "passes/statistics/values.hpp"
#include "passes/transform/expand_attention.hpp"

namespace mase::passes {
namespace {

const std::vector<std::string> option_names = field_names<Quantize::Options>();

bool is_option(const std::string& key) {
  return std::find(option_names.begin(), option_names.end(), key) != option_names.end();
}

constexpr const char* input_op = "placeholder";  ///< an input has the port data_out

/// The ops that selectors may name with by = "type".
std::vector<std::string> quantizable_ops(const ir::CustomOps& own) {
  std::vector<std::string> names{input_op};
  for (const auto& [name, op] : own) names.push_back(name);
  for (const ir::OpRow& row : ir::op_table())
    if (row.quantizable) names.emplace_back(row.name);
  return names;
}

/// The ports, and the ports whose format they take when they have no format.
std::vector<std::string> with_general_ports(std::vector<std::string> ports) {
  const std::vector<std::string> own = ports;
  for (const std::string& port : own) {
    const std::string general(ir::general_port(port));
    if (std::ranges::find(ports, general) == ports.end()) ports.push_back(general);
  }
  return ports;
}

const ir::OpRow* find_row(const std::string& op, const ir::CustomOps& own) {
  const auto found = own.find(op);
  return found == own.end() ? ir::find_op(op) : &found->second->row;
}

/// The ports of a selector's nodes; nullopt after a diagnostic when the selector is not valid.
std::optional<std::vector<std::string>> ports_for(const std::string& by,
                                                  const std::string& selector, const Tree& table,
                                                  const ir::CustomOps& own,
                                                  Diagnostics& diagnostics) {
  if (selector == "default" || by != "type") {
    if (by == "regex_name" && selector != "default") {
      try {
        std::regex pattern(selector);
      } catch (const std::regex_error& error) {
        diagnostics.error(table.key_where,
                          "'" + selector + "' is not a regular expression: " + error.what());
        return std::nullopt;
      }
    }
    return all_ports();
  }
  if (selector == input_op) return std::vector<std::string>{"data_out"};
  const ir::OpRow* row = find_row(selector, own);
  if (row && row->quantizable) return with_general_ports(ir::port_names(*row));
  if (row) {
    diagnostics.error(table.key_where, "op '" + selector +
                                           "' has no quantized form; quantizable: " +
                                           join(quantizable_ops(own), ", "));
    return std::nullopt;
  }
  std::vector<std::string> allowed = quantizable_ops(own);
  allowed.insert(allowed.end(), option_names.begin(), option_names.end());
  report_unknown_key(table, selector, allowed, diagnostics);
  return std::nullopt;
}

struct Rules {
  Quantize::Options options;
  std::vector<QuantizeRule> rules;  ///< in file order, without `default`
  std::optional<QuantizeRule> fallback;
};

Rules read_rules(const Tree& tree, const ir::CustomOps& own, Diagnostics& diagnostics) {
  Rules rules;
  std::vector<std::string> selectors;
  for (const auto& [key, entry] : tree.as_dict())
    if (!is_option(key)) selectors.push_back(key);
  read_fields(tree, rules.options, diagnostics, selectors);
  for (const std::string& selector : selectors) {
    const Tree& table = tree.at(selector);
    const auto ports = ports_for(rules.options.by, selector, table, own, diagnostics);
    if (!ports) continue;
    auto rule = read_rule(selector, table, *ports, diagnostics);
    if (!rule) continue;
    if (selector == "default")
      rules.fallback = std::move(rule);
    else
      rules.rules.push_back(std::move(*rule));
  }
  return rules;
}

void check_node_names(const ir::Graph& graph, const Tree& tree, const Rules& rules,
                      Diagnostics& diagnostics) {
  if (rules.options.by != "name") return;
  for (const QuantizeRule& rule : rules.rules)
    if (!graph.find_node(rule.selector))
      diagnostics.error(tree.at(rule.selector).key_where, graph.unknown_node(rule.selector));
}

/// Applies rules, and collects settings that could not be applied in groups, so that a default for
/// many nodes gives one note per op and port.
class Applier {
 public:
  Applier(ir::Graph& graph, const Rules& rules) : graph_(graph), rules_(rules) {
    if (rules.options.by != "regex_name") return;
    for (const QuantizeRule& rule : rules.rules) patterns_.emplace_back(rule.selector);
  }

  Result run(const PassContext& context) {
    for (ir::NodeId id : graph_.order()) visit(graph_.node(id));
    check_shapes();
    check_values();
    Result result;
    note_float(result);
    write_masks(graph_, context, result);
    settle_open_points(context, result);
    calibrate_ports(graph_, calibrated_, rules_.options, context, result);
    bound_exponents(graph_, bounded_, rules_.options, context, result);
    result.changed = !changed_.empty();
    result.headline = counted(changed_.size(), "node") + " quantized" +
                      (result.headline.empty() ? "" : ", " + result.headline);
    for (const std::string& name : changed_) result.info["nodes"].push_back(formats_of(name));
    for (const QuantizeRule& rule : rules_.rules)
      if (!used_.contains(rule.selector))
        result.notes.push_back("'" + rule.selector + "' was not applied: the graph has no such " +
                               (rules_.options.by == "type" ? "op" : "node"));
    for (const auto& [text, nodes] : skipped_)
      if (!met_.contains(text)) result.notes.push_back(text + ": " + join(nodes, ", "));
    for (const auto& [text, nodes] : beyond_default_)
      result.details.push_back(text + ": " + join(nodes, ", "));
    return result;
  }

 private:
  /// Notes what has no format now, and how much of the model that is.
  void note_float(Result& result) const {
    const FloatShare share = float_share(graph_);
    result.info["float"] = share.tree();
    if (!share.any()) return;
    const auto fused = [&](ir::NodeId id) {
      const ir::Node& node = graph_.node(id);
      return node.formats.empty() && ExpandAttention::applies(node);
    };
    const bool attention = std::ranges::any_of(graph_.order(), fused);
    result.notes.push_back("left in float: " + share.text() +
                           (attention ? "; [passes.expand_attention] before quantize takes fused "
                                        "attention apart into layers that can have formats"
                                      : ""));
  }

  /// Sets binary points of data that were left open to half of the width when there is no data.
  void settle_open_points(const PassContext& context, Result& result) {
    if (context.has_data()) return;
    std::set<std::string> ports;
    std::erase_if(calibrated_, [&](const PortName& name) {
      if (!open_.contains(name.text())) return false;
      if (!carries_data(graph_, *graph_.find_node(name.node), name.port)) return false;
      ports.insert(name.port);
      return true;
    });
    for (const std::string& port : ports)
      result.notes.push_back("the binary point of " + port +
                             " is half of its width, since there is no data to choose it from; "
                             "name a data set, give example inputs with --input, or set " +
                             port + "_frac_width, which \"integer(8, 4)\" has as 4");
  }

  void visit(ir::Node& node) {
    const ir::Classified type = ir::classify(graph_, node);
    const bool input = node.kind == ir::NodeKind::placeholder;
    const bool quantizable = input || (type.row && type.row->quantizable);
    const QuantizeRule* rule = rule_for(node, type.op);
    if (!rule || (input && rule->selector == "default")) return;
    used_.insert(rule->selector);
    if (rule->leave) return;
    if (quantizable) {
      apply(*rule, node, type.op);
    } else if (rule->selector != "default") {
      skipped_["op '" + type.op + "' has no quantized form, not applied to"].push_back(node.name);
    }
  }

  bool matches(std::size_t index, const ir::Node& node, const std::string& op) const {
    if (!patterns_.empty()) return std::regex_match(node.name, patterns_[index]);
    return rules_.rules[index].selector == (rules_.options.by == "type" ? op : node.name);
  }

  /// The first rule that matches, otherwise the default.
  const QuantizeRule* rule_for(const ir::Node& node, const std::string& op) const {
    for (std::size_t i = 0; i < rules_.rules.size(); ++i)
      if (matches(i, node, op)) return &rules_.rules[i];
    return rules_.fallback ? &*rules_.fallback : nullptr;
  }

  void apply(const QuantizeRule& rule, ir::Node& node, const std::string& op) {
    const std::set<std::string> available = float_ports(graph_, node);
    if (available.empty()) return;  // the op works on host numbers, as in the root of a size
    std::set<std::string> used;
    for (const std::string& port : available) {
      const auto* wanted = rule_of_port(rule, port);
      if (!wanted) continue;
      put(wanted->second, node, op, port);
      used.insert(wanted->first);
    }
    for (const auto& [port, wanted] : rule.ports) {
      const std::string note =
          "'" + rule.selector + "' asks for " + port + ", which " + op + " does not have, at";
      auto& notes = rule.selector == "default" ? beyond_default_ : skipped_;
      if (used.contains(port))
        met_.insert(note);
      else if (wanted.is_named)
        notes[note].push_back(node.name);
    }
    if (used.empty()) return;
    changed_.push_back(node.name);
    if (node.meta.common.size() > 0) node.meta.common = ir::common_metadata(graph_, node);
  }

  /// Puts a format on a port, with blocks laid out for the port's tensor of highest rank.
  void put(const PortRule& wanted, ir::Node& node, const std::string& op, const std::string& port) {
    std::size_t rank = 0;
    for (const Shape& shape : port_shapes(graph_, node, port)) rank = std::max(rank, shape.size());
    node.formats.insert_or_assign(port,
                                  with_block_layout(wanted.format, wanted.given, op, port, rank));
    if (wanted.calibrated) calibrated_.push_back({node.name, port});
    if (!wanted.bounds.empty()) bounded_.push_back({{node.name, port}, wanted.bounds});
    if (wanted.is_open) open_.insert(PortName{node.name, port}.text());
  }

  void check_shapes() const {
    std::vector<std::string> faults;
    for (const std::string& name : changed_)
      for (std::string& fault : shape_faults(graph_, *graph_.find_node(name)))
        faults.push_back(std::move(fault));
    if (!faults.empty()) config_error(join(faults, "\n"));
  }

  /// Refuses weights that training has broken; -inf in other constants may be a mask.
  void check_values() const {
    std::vector<std::string> faults;
    for (const std::string& name : changed_) {
      const ir::Node& node = *graph_.find_node(name);
      for (const ir::Port& port : ir::ports(graph_, node)) {
        if (!node.formats.contains(port.name)) continue;
        for (const std::string& path : source_of(graph_, "", port.value, port.tensor).tensors)
          if (const std::string fault = value_fault(graph_.tensors.at(path)); !fault.empty())
            faults.push_back("node '" + name + "', " + port.name + " (tensor '" + path +
                             "'): " + fault);
      }
    }
    if (faults.empty()) return;
    file_error(join(faults, "\n") +
               ": formats hold finite numbers; repair the tensor or leave the node in float "
               "(name = \"NA\")");
  }

  /// Names the first element that no format can hold; empty when there is no such element.
  static std::string value_fault(const ir::Tensor& tensor) {
    if (tensor.value.dtype() != DType::float32) return "";
    // Piece by piece, so that a large tensor of a file with narrow numbers is not kept as float32.
    constexpr std::int64_t piece = std::int64_t{1} << 20;
    const Array stored = tensor.value.as_stored();
    const Array flat = stored.reshaped({stored.size()});
    for (std::int64_t begin = 0; begin < flat.size(); begin += piece) {
      const Array part = flat.rows(begin, std::min(piece, flat.size() - begin)).to_float32();
      const auto values = part.span<float>();
      const auto odd = std::ranges::find_if(values, [&](float value) {
        return tensor.is_parameter ? !std::isfinite(value) : std::isnan(value);
      });
      if (odd != values.end())
        return "element " + std::to_string(begin + (odd - values.begin())) + " is " +
               double_text(*odd);
    }
    return "";
  }

  Tree formats_of(const std::string& name) const {
    Tree entry = Tree::dict();
    entry["node"] = name;
    for (const auto& [port, format] : graph_.find_node(name)->formats) entry[port] = format.text();
    return entry;
  }

  ir::Graph& graph_;
  const Rules& rules_;
  std::vector<std::regex> patterns_;  ///< one per rule with by = "regex_name", otherwise empty
  std::vector<std::string> changed_;
  std::vector<PortName> calibrated_;  ///< ports with a field that is chosen from data
  std::vector<BoundedPort> bounded_;  ///< ports with exponents of a range that data decide
  std::set<std::string> open_;        ///< of these, the ports whose binary point was not given
  std::set<std::string> used_;
  /// Nodes by the setting that was not applied to them: one of a rule, or one of the default for
  /// ports that the node lacks.
  std::map<std::string, std::vector<std::string>> skipped_, beyond_default_;
  /// Notes that hold for only some nodes of a rule: a rule may name the bias although some of its
  /// layers have none.
  std::set<std::string> met_;
};

}  // namespace

void Quantize::check(const Tree& options, Diagnostics& diagnostics, const ir::CustomOps& own) {
  read_rules(options, own, diagnostics);
}

namespace {

/// Ops with all ports, for names that are not in the op table; the options have been checked.
ir::CustomOps any_ops(const Tree& options) {
  ir::CustomOps ops;
  for (const auto& [name, table] : options.as_dict()) {
    if (is_option(name) || name == "default" || name == input_op || ir::find_op(name)) continue;
    auto op = std::make_shared<ir::CustomOp>();
    op->row.quantizable = true;
    for (const std::string& port : ir::custom_ports()) op->row.args.push_back({port, port});
    ops.emplace(name, std::move(op));
  }
  return ops;
}

}  // namespace

Tree Quantize::resolve(const Tree& options) {
  Diagnostics ignored;
  const Rules rules = read_rules(options, any_ops(options), ignored);
  Tree resolved = write_fields(rules.options);
  if (rules.fallback) resolved["default"] = write_rule(*rules.fallback);
  for (const QuantizeRule& rule : rules.rules) resolved[rule.selector] = write_rule(rule);
  return resolved;
}

Result Quantize::run(ir::Graph& graph, const Tree& options, PassContext& context) {
  Diagnostics diagnostics;
  const Rules rules = read_rules(options, graph.custom_ops, diagnostics);
  check_node_names(graph, options, rules, diagnostics);
  diagnostics.throw_if_errors();
  return Applier(graph, rules).run(context);
}

}  // namespace mase::passes
