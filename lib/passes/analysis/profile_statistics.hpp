// SPDX-License-Identifier: Apache-2.0
// Statistics of weights and activations, stored as metadata.
#pragma once

#include "passes/pass.hpp"

namespace mase::passes {

/// Collects statistics of the tensors of chosen nodes and writes them to the software metadata:
/// `software.args.NAME.stat.STATISTIC` (results: `software.results.data_out_0.stat.STATISTIC`),
/// where the metadata reports show them. See passes/statistics for the statistics and their keys.
///
/// Options besides the fields: tables `weight_statistics` and `activation_statistics`, each with
/// one table of arguments per statistic. Weight statistics cover the parameters and buffers of the
/// nodes in `target_weight_nodes`; each is one sample. Activation statistics cover the other inputs
/// of the nodes in `target_activation_nodes` while the graph, unchanged, runs on `num_samples`
/// rows; each row is a sample of shape [1, ...]. `by` says whether targets are ops or node names.
struct ProfileStatistics {
  static constexpr PassDoc doc{"profile_statistics", PassKind::analysis,
                               "Collect statistics of weights and activations."};
  static constexpr bool shares_work = true;
  struct Options {
    std::string by = "type";
    std::vector<std::string> target_weight_nodes, target_activation_nodes;
    std::int64_t num_samples = 512;
    bool profile_output_activation = false;
    static constexpr auto fields() {
      using O = Options;
      return std::tuple{
          Field{"by", &O::by, "whether targets are ops or names of nodes"}.one_of("type", "name"),
          Field{"target_weight_nodes", &O::target_weight_nodes, "nodes whose weights are profiled"},
          Field{"target_activation_nodes", &O::target_activation_nodes,
                "nodes whose inputs are profiled"},
          Field{"num_samples", &O::num_samples, "training rows to run on"}.at_least(1),
          Field{"profile_output_activation", &O::profile_output_activation,
                "profile the outputs of these nodes too"}};
    }
  };
  static void check(const Tree& options, Diagnostics& diagnostics);
  static Tree resolve(const Tree& options);
  static Result run(ir::Graph& graph, const Tree& options, PassContext& context);
};

}  // namespace mase::passes
