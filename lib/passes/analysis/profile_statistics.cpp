// SPDX-License-Identifier: Apache-2.0
// Lists the tensors to profile, shows them to their collectors, and stores the results.
#include "passes/analysis/profile_statistics.hpp"

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "ir/metadata.hpp"
#include "ir/node_arguments.hpp"
#include "ir/op_table.hpp"
#include "passes/statistics/shared_sources.hpp"
#include "passes/statistics/statistic.hpp"
#include "passes/statistics/values.hpp"

namespace mase::passes {
namespace {

using Options = ProfileStatistics::Options;

const std::vector<std::string> tables{"weight_statistics", "activation_statistics"};

const Tree& table_of(const Tree& options, const std::string& table) {
  static const Tree none = Tree::dict();
  const Tree* found = options.find(table);
  return found ? *found : none;
}

void check_statistics(const Tree& table, const std::string& name, Diagnostics& diagnostics) {
  if (!table.is_dict()) {
    diagnostics.error(table.where, "'" + name + "' must be a table with a table per statistic");
    return;
  }
  for (const auto& [statistic, arguments] : table.as_dict()) {
    report_unknown_key(arguments, statistic, statistic_names(), diagnostics);
    if (const StatisticRow* row = find_statistic(statistic)) row->make(arguments, diagnostics);
  }
}

/// One tensor of one node, with the collectors that its table asks for.
struct Profiled {
  ir::NodeId node;
  std::string part, name;  ///< "args" and "data_in_0"
  bool is_activation;
  Source source;
  std::map<std::string, std::unique_ptr<Collector>> collectors;

  Tree results() const {
    Tree all = Tree::dict();
    for (const auto& [name, collector] : collectors) all[name] = collector->result();
    return all;
  }
};

class Profiler {
 public:
  Profiler(ir::Graph& graph, const Options& options, const Tree& tree)
      : graph_(graph), options_(options), tree_(tree) {
    for (ir::NodeId id : graph.order()) {
      const bool weights = is_target(id, options.target_weight_nodes);
      const bool activations = is_target(id, options.target_activation_nodes);
      if (weights || activations) list(id, weights, activations);
    }
  }

  void run(const PassContext& context) {
    std::vector<Source> sources;
    for (const Profiled& one : list_) sources.push_back(one.source);
    const SharedSources shared(graph_, sources, options_.num_samples, context);
    found_ = shared.findings([&] { return collect(shared.own(), context); });
  }

  /// Writes the results into the metadata; {node: {name: {statistic: {...}}}}.
  Tree store() {
    Tree info = Tree::dict();
    for (std::size_t i = 0; i < list_.size(); ++i) {
      if (found_[i].size() == 0) continue;
      const Profiled& one = list_[i];
      ir::Node& node = graph_.node(one.node);
      if (node.meta.software.size() == 0) node.meta.software = ir::software_metadata(graph_, node);
      Tree& stat = node.meta.software[one.part][one.name]["stat"];
      for (const auto& [name, result] : found_[i].as_dict()) {
        stat[name] = result;
        info[node.name][one.name][name] = stat[name];
      }
    }
    return info;
  }

  /// Targets that matched no node.
  std::vector<std::string> unused() const {
    std::vector<std::string> unused;
    for (const auto* targets : {&options_.target_weight_nodes, &options_.target_activation_nodes})
      for (const std::string& target : *targets)
        if (std::none_of(graph_.order().begin(), graph_.order().end(),
                         [&](ir::NodeId id) { return is_target(id, {target}); }))
          unused.push_back("'" + target + "'");
    return unused;
  }

 private:
  bool is_target(ir::NodeId id, const std::vector<std::string>& targets) const {
    const ir::Node& node = graph_.node(id);
    const std::string name = options_.by == "type" ? ir::classify(graph_, node).op : node.name;
    return std::find(targets.begin(), targets.end(), name) != targets.end();
  }

  void list(ir::NodeId id, bool weights, bool activations) {
    const ir::Node& node = graph_.node(id);
    for (const ir::NamedArgument& argument : ir::named_arguments(graph_, node)) {
      const bool is_tensor = !argument.tensor.empty();
      if (!is_tensor && (!argument.value.is_node() || argument.port.empty())) continue;
      Source source = source_of(graph_, "node '" + node.name + "', " + argument.name,
                                argument.value, argument.tensor);
      const bool is_weight = source.nodes.empty();
      if (is_weight ? weights : activations)
        list_.push_back({id, "args", argument.name, !is_weight, std::move(source), {}});
    }
    if (activations && options_.profile_output_activation && node.info.is_tensor())
      list_.push_back({id,
                       "results",
                       "data_out_0",
                       true,
                       {"node '" + node.name + "', data_out_0", {}, {node.name}},
                       {}});
  }

  /// Collects the statistics of some of the tensors.
  std::vector<Tree> collect(const std::vector<std::size_t>& places, const PassContext& context) {
    std::vector<Source> sources;
    for (const std::size_t place : places) sources.push_back(list_[place].source);
    show_values(
        graph_, sources, ir::Level::quantized, options_.num_samples, context,
        [&](std::size_t i, const Array& values) { add(list_[places[i]], values.to_float32()); });
    std::vector<Tree> all;
    for (const std::size_t place : places) all.push_back(list_[place].results());
    return all;
  }

  /// Makes collectors at the first values, so that integer tensors do not get any.
  void add(Profiled& one, const Array& values) {
    const Tree& table = table_of(tree_, tables[one.is_activation ? 1 : 0]);
    Diagnostics checked;
    if (one.collectors.empty())
      for (const auto& [name, arguments] : table.as_dict())
        one.collectors[name] = find_statistic(name)->make(arguments, checked);
    Samples samples{values.span<float>(), 1, values.shape()};
    if (one.is_activation && !samples.shape.empty())
      samples.count = std::exchange(samples.shape[0], 1);
    try {
      for (const auto& [name, collector] : one.collectors) collector->add(samples);
    } catch (const Error& error) {
      throw Error(error.fault(), one.source.what + ": " + error.what());
    }
  }

  ir::Graph& graph_;
  const Options& options_;
  const Tree& tree_;
  std::vector<Profiled> list_;
  std::vector<Tree> found_;  ///< {statistic: {...}} by place in the list
};

}  // namespace

void ProfileStatistics::check(const Tree& options, Diagnostics& diagnostics) {
  Options read;
  read_fields(options, read, diagnostics, tables);
  for (const std::string& table : tables)
    check_statistics(table_of(options, table), table, diagnostics);
}

Tree ProfileStatistics::resolve(const Tree& options) {
  Diagnostics ignored;
  Options read;
  read_fields(options, read, ignored, tables);
  Tree resolved = write_fields(read);
  for (const std::string& table : tables) {
    resolved[table] = Tree::dict();
    for (const auto& [name, arguments] : table_of(options, table).as_dict())
      if (const StatisticRow* row = find_statistic(name))
        resolved[table][name] = row->resolve(arguments);
  }
  return resolved;
}

Result ProfileStatistics::run(ir::Graph& graph, const Tree& tree, PassContext& context) {
  Diagnostics diagnostics;
  check(tree, diagnostics);
  diagnostics.throw_if_errors();
  Options options;
  read_fields(tree, options, diagnostics, tables);
  Profiler profiler(graph, options, tree);
  profiler.run(context);
  Result result;
  result.info["statistics"] = profiler.store();
  if (const auto unused = profiler.unused(); !unused.empty())
    result.notes.push_back("no node has the " +
                           std::string(options.by == "type" ? "op " : "name ") +
                           join(unused, ", "));
  return result;
}

}  // namespace mase::passes
