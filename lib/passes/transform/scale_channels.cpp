// SPDX-License-Identifier: Apache-2.0
// Reads the factors, gives each group one of them, and reports factors that cannot be applied.
#include "passes/transform/scale_channels.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/text.hpp"
#include "ir/op_table.hpp"
#include "passes/channels/channel_groups.hpp"
#include "passes/channels/resize_channels.hpp"

namespace mase::passes {
namespace {

constexpr FieldRules factor_rules{0, 65536, {}, 0};

struct Request {
  std::string layer;
  double factor;
  SourceLocation where;
};

struct Requests {
  ScaleChannels::Options options;
  std::vector<Request> layers;
};

Requests read_requests(const Tree& tree, Diagnostics& diagnostics) {
  Requests requests;
  read_fields(tree, requests.options, diagnostics, {"layers"});
  const Tree* layers = tree.is_dict() ? tree.find("layers") : nullptr;
  if (layers == nullptr) return requests;
  if (!layers->is_dict()) {
    field_detail::wrong_type(*layers, "layers", "table", diagnostics);
    return requests;
  }
  for (const auto& [layer, entry] : layers->as_dict()) {
    double factor = 1;
    if (field_detail::read_value(entry, layer, factor_rules, factor, diagnostics))
      requests.layers.push_back({layer, factor, entry.key_where});
  }
  return requests;
}

/// Decides on the widths of one graph's groups.
class Chooser {
 public:
  Chooser(const ir::Graph& graph, const ChannelMap& map, const Requests& requests,
          Diagnostics& diagnostics)
      : graph_(graph),
        map_(map),
        requests_(requests),
        diagnostics_(diagnostics),
        groups_(channel_detail::produced_groups(graph, map)) {}

  ChannelWidths run() {
    for (const Request& request : requests_.layers) assign(request);
    ChannelWidths widths(static_cast<std::size_t>(map_.space.count()));
    for (int group : groups_) widths[static_cast<std::size_t>(group)] = width_of(group);
    diagnostics_.throw_if_errors();
    if (!unsupported_.empty()) refuse();
    return widths;
  }

 private:
  const ChannelUnit& unit(int group) const { return map_.space.unit(group); }

  static bool has(const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
  }

  void assign(const Request& request) {
    bool known = false;
    for (int group : groups_) {
      if (!has(unit(group).producers, request.layer)) continue;
      known = true;
      const auto [other, first] = asked_.try_emplace(group, &request);
      if (!first && other->second->factor != request.factor)
        error(request, "layers '" + other->second->layer + "' and '" + request.layer +
                           "' must have one factor because their channels meet, not " +
                           double_text(other->second->factor) + " and " +
                           double_text(request.factor));
    }
    if (!known) error(request, unknown_layer(request.layer));
  }

  std::string unknown_layer(const std::string& name) const {
    std::set<std::string> layers;
    for (int group : groups_)
      layers.insert(unit(group).producers.begin(), unit(group).producers.end());
    const std::vector<std::string> names(layers.begin(), layers.end());
    if (graph_.find_node(name))
      return "node '" + name +
             "' is not a linear or convolution layer; layers: " + join(names, ", ");
    return "the graph has no node '" + name + "'" +
           did_you_mean(name, names, "; layers: " + join(names, ", "));
  }

  /// The new width of a group; 0 when it keeps its width.
  std::int64_t width_of(int group) {
    const auto asked = asked_.find(group);
    const bool named = asked != asked_.end();
    const double factor = named ? asked->second->factor : requests_.options.factor;
    if (!unit(group).obstacles.empty()) {
      if (channel_detail::is_unsupported(unit(group)) && factor != 1)
        unsupported_.push_back(group);
      else if (named)
        error(*asked->second, "layer '" + asked->second->layer + "' must keep its width: " +
                                  channel_detail::reason_of(graph_, unit(group)));
      return 0;
    }
    const double width = double(unit(group).width) * factor;
    const double whole = std::round(width);
    if (whole < 1 || std::fabs(width - whole) > 1e-9 * width) {
      report_width(group, named ? asked->second : nullptr, factor);
      return 0;
    }
    return whole == double(unit(group).width) ? 0 : static_cast<std::int64_t>(whole);
  }

  void report_width(int group, const Request* asked, double factor) {
    const std::string layer =
        asked ? asked->layer : channel_detail::producers_in_order(graph_, unit(group)).front();
    const std::string message =
        "node '" + layer + "' has width " + std::to_string(unit(group).width) + ", times factor " +
        double_text(factor) + " that is " + double_text(double(unit(group).width) * factor) +
        ", not a whole number of at least 1";
    diagnostics_.error(asked ? asked->where : SourceLocation{}, message);
  }

  void error(const Request& request, const std::string& message) {
    diagnostics_.error(request.where, message);
  }

  [[noreturn]] void refuse() const {
    std::vector<std::string> places, layers;
    for (int group : unsupported_) {
      for (const ChannelObstacle& obstacle : unit(group).obstacles) {
        const std::string text = "'" + obstacle.node + "' (" +
                                 ir::classify(graph_, *graph_.find_node(obstacle.node)).op + ")";
        if (!has(places, text)) places.push_back(text);
      }
      for (const std::string& layer : channel_detail::producers_in_order(graph_, unit(group)))
        if (!has(layers, layer)) layers.push_back(layer);
    }
    unsupported_error("channels cannot be followed through " + join(places, ", ") +
                      "; these layers keep their widths: " + join(layers, ", ") +
                      " (leave factor = 1 and name other layers in the table 'layers')");
  }

  const ir::Graph& graph_;
  const ChannelMap& map_;
  const Requests& requests_;
  Diagnostics& diagnostics_;
  std::vector<int> groups_;
  std::map<int, const Request*> asked_;
  std::vector<int> unsupported_;
};

/// Reports the new width of every group in info and in a table.
void record_groups(const ir::Graph& graph, const ChannelMap& map, const ChannelWidths& widths,
                   Result& result) {
  Tree list = Tree::list();
  ReportTable table{"Scaled channels", {"Layers", "From", "To"}, {}, ""};
  for (int group : channel_detail::produced_groups(graph, map)) {
    const std::int64_t width = widths[static_cast<std::size_t>(group)];
    if (width == 0) continue;
    const std::int64_t old = map.space.unit(group).width;
    const auto layers = channel_detail::producers_in_order(graph, map.space.unit(group));
    Tree entry = Tree::dict();
    entry["layers"] = Tree::list_of(layers);
    entry["from"] = old;
    entry["to"] = width;
    list.push_back(std::move(entry));
    table.rows.push_back({join(layers, ", "), std::to_string(old), std::to_string(width)});
  }
  result.changed = !table.rows.empty();
  result.headline = "widths of " + counted(table.rows.size(), "group") + " of layers changed";
  result.info["groups"] = std::move(list);
  if (result.changed) result.tables.push_back(std::move(table));
}

}  // namespace

void ScaleChannels::check(const Tree& options, Diagnostics& diagnostics) {
  read_requests(options, diagnostics);
}

Tree ScaleChannels::resolve(const Tree& options) {
  Diagnostics ignored;
  const Requests requests = read_requests(options, ignored);
  Tree resolved = write_fields(requests.options);
  if (requests.layers.empty()) return resolved;
  Tree& layers = resolved["layers"];
  for (const Request& request : requests.layers) layers[request.layer] = request.factor;
  return resolved;
}

Result ScaleChannels::run(ir::Graph& graph, const Tree& options, PassContext& context) {
  Diagnostics diagnostics;
  const Requests requests = read_requests(options, diagnostics);
  diagnostics.throw_if_errors();
  const ChannelMap map = follow_channels(graph);
  const ChannelWidths widths = Chooser(graph, map, requests, diagnostics).run();
  Result result;
  record_groups(graph, map, widths, result);
  if (!result.changed) return result;
  const ScaleChannels::Options& chosen = requests.options;
  resize_channels(graph, map, widths,
                  {chosen.weights == "random", chosen.noise, std::uint64_t(chosen.seed)});
  context.start_again(graph, context.probe);
  return result;
}

}  // namespace mase::passes
