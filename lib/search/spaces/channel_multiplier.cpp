// SPDX-License-Identifier: Apache-2.0
// Channel multipliers: a width factor for each group of layers that must have the same width, or
// one for all of them. They become a call of the pass `scale_channels`.
#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "passes/channels/channel_groups.hpp"
#include "search/spaces/search_space.hpp"

namespace mase::search {
namespace {

using samplers::Params;

/// A factor for a group of layers, or for all layers without a seed of their own.
struct Factor {
  std::vector<std::string> nodes;  ///< one node of each group
  std::vector<Tree> choices;
  std::string dimension;  ///< "" if pinned
};

class ChannelReader {
 public:
  ChannelReader(const SpaceOptions& options, const ir::Graph& graph, Diagnostics& diagnostics)
      : uniform_(options.setup.by == "uniform"),
        seed_(options.seed),
        groups_(passes::channel_groups(graph)),
        diagnostics_(diagnostics) {
    check_selectors();
    for (const passes::ChannelGroup& group : groups_)
      if (group.may_scale) add_group(group);
  }

  samplers::Space dimensions;
  std::vector<SearchSpace::Layer> layers;
  std::vector<Factor> factors;

 private:
  void check_selectors() {
    std::vector<std::string> allowed{"default"};
    for (const passes::ChannelGroup& group : groups_)
      allowed.insert(allowed.end(), group.nodes.begin(), group.nodes.end());
    for (const auto& [name, table] : seed_.as_dict()) {
      report_unknown_key(table, name, allowed, diagnostics_);
      for (const passes::ChannelGroup& group : groups_)
        if (!group.may_scale && contains(group, name))
          diagnostics_.error(table.key_where,
                             "the channels of '" + name + "' cannot be scaled: " + group.reason);
    }
  }

  static bool contains(const passes::ChannelGroup& group, const std::string& node) {
    return std::find(group.nodes.begin(), group.nodes.end(), node) != group.nodes.end();
  }

  /// Adds a group. Its seed is the table of one of its nodes, or the default.
  void add_group(const passes::ChannelGroup& group) {
    std::vector<std::string> named;
    for (const std::string& node : group.nodes)
      if (seed_.find(node)) named.push_back(node);
    if (named.size() > 1)
      diagnostics_.error(seed_.at(named[1]).key_where,
                         "'" + named[0] + "' and '" + named[1] +
                             "' share their channels, so they share one factor; seed one of them");
    const Tree* table = seed_.find(named.empty() ? "default" : named.front());
    if (!table) return;
    const std::string& node = named.empty() ? group.nodes.front() : named.front();
    if (uniform_ && named.empty() && uniform_factor_) {
      factors[*uniform_factor_].nodes.push_back(node);
      return;
    }
    if (uniform_ && named.empty()) uniform_factor_ = factors.size();
    add_factor(uniform_ && named.empty() ? "default" : node, node, *table);
  }

  void add_factor(const std::string& name, const std::string& node, const Tree& table) {
    const Tree* config = table.find("config");
    if (!config || !config->is_dict() || !config->find("factor")) {
      diagnostics_.error(table.where, "a seed needs a table 'config' with factor = [numbers]");
      factors.push_back({{node}, {Tree(1)}, ""});
      return;
    }
    for (const auto& [key, entry] : config->as_dict())
      report_unknown_key(entry, key, {"factor"}, diagnostics_);
    const Tree* choices = choices_of(*config, "factor", diagnostics_);
    Factor factor{{node}, choices ? choices->as_list() : std::vector<Tree>{Tree(1)}, ""};
    for (const Tree& choice : factor.choices)
      if (!choice.is_number() || choice.as_double() <= 0)
        diagnostics_.error(choice.where, "a factor must be a number above 0");
    if (factor.choices.size() > 1) {
      factor.dimension = name + "/config/factor";
      layers.push_back({name, {dimensions.size()}});
      dimensions.push_back(
          {factor.dimension, samplers::CategoricalDistribution{factor.choices}, std::nullopt});
    }
    factors.push_back(std::move(factor));
  }

  bool uniform_;
  const Tree& seed_;
  std::vector<passes::ChannelGroup> groups_;
  std::optional<std::size_t> uniform_factor_;
  Diagnostics& diagnostics_;
};

class ChannelMultiplier : public SearchSpace {
 public:
  ChannelMultiplier(const SpaceSetup& setup, ChannelReader reader)
      : setup_(setup), factors_(std::move(reader.factors)) {
    dimensions_ = std::move(reader.dimensions);
    layers_ = std::move(reader.layers);
  }

  std::vector<passes::PassCall> calls(const Params& params) const override {
    return {{"scale_channels", sampled_config(params), {}}};
  }

  Tree sampled_config(const Params& params) const override {
    Tree options = Tree::dict();
    options["weights"] = setup_.weights;
    options["noise"] = setup_.noise;
    Tree& layers = options["layers"] = Tree::dict();
    for (const Factor& factor : factors_) {
      const auto chosen = params.find(factor.dimension);
      if (chosen == params.end() && !factor.dimension.empty()) continue;
      const std::size_t index =
          factor.dimension.empty() ? 0 : static_cast<std::size_t>(chosen->second);
      for (const std::string& node : factor.nodes) layers[node] = factor.choices[index];
    }
    return options;
  }

 private:
  SpaceSetup setup_;
  std::vector<Factor> factors_;
};

std::unique_ptr<SearchSpace> make_channels(const SpaceOptions& options, const ir::Graph& graph,
                                           Diagnostics& diagnostics) {
  return std::make_unique<ChannelMultiplier>(options.setup,
                                             ChannelReader(options, graph, diagnostics));
}

}  // namespace

SpaceRow channel_multiplier_row() {
  return {"graph/nas/channel_multiplier",
          "channels",
          "Widths of linear and convolution layers, made by the pass scale_channels.",
          "channel multipliers",
          {"name", "uniform"},
          make_channels};
}

}  // namespace mase::search
