// SPDX-License-Identifier: Apache-2.0
// The results of a search: files and tables made from the trials of the study.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/graph.hpp"
#include "passes/pass.hpp"
#include "search/options.hpp"
#include "search/samplers/sampler.hpp"
#include "search/storage/storage.hpp"

namespace mase::search {

/// The format of a port of a model, and its size in bits.
struct PortBits {
  std::string node, port;
  std::string format;     ///< "float32" if the port has none
  double bits = 0;        ///< bits of an element, including shared ones
  double float_bits = 0;  ///< bits of an element in the float model
};
/// The weights, biases and inputs of all quantizable layers, in the order of the graph.
std::vector<PortBits> port_bits(const ir::Graph& graph);

/// The state of a study. The metrics of a trial are its user attributes `software_metrics`,
/// `hardware_metrics`, `scaled_metrics` and `sampled_config`. A failed trial has the attribute
/// `fail_reason`; with constraints, a trial has `constraints` (satisfied if at most 0).
struct StudyResult {
  std::string name;
  Options options;  ///< goals, constraints, sampler
  samplers::Problem problem;
  std::vector<storage::Record> trials;  ///< ascending number
  Tree baseline = Tree::dict();         ///< metrics of the float model, by name
  /// The measurements of exact allocation: {"layer", "parameters", "loss", "cost"} per choice of a
  /// layer, as the difference to the original model; empty without allocation.
  Tree sensitivity = Tree::list();
  std::string cost_metric = {};             ///< the metric of "cost"; empty without allocation
  std::vector<PortBits> leading_bits = {};  ///< of the first leading trial, if known
  std::string samplers = {};                ///< "tpe, random from trial 14 on"
  /// The best trials measured on rows that the search did not see; may have no rows.
  passes::ReportTable confirmed = {};

  /// The indices of the feasible, non-dominated trials, in ascending number; empty if no completed
  /// trial is feasible.
  std::vector<std::size_t> best() const;
  /// The completed trial with the smallest violation (the first of equal ones); nothing if there
  /// are no completed trials.
  std::optional<std::size_t> nearest_to_feasible() const;
};

/// The contents of best.json: one object per best trial, keyed "0", "1", ..., with number, value
/// (list), software_metrics, hardware_metrics, scaled_metrics, sampled_config. Empty if no trial is
/// feasible.
Tree best_tree(const StudyResult& result);
/// The contents of log.json: one object per trial, keyed "0", "1", ..., as the reference writes it:
/// number, value or values_0 ..., user_attrs_*, system_attrs_* (constraints and fail_reason if the
/// trial has them), state, datetime_start, datetime_complete, duration; times in ms.
Tree log_tree(const StudyResult& result);
std::string log_text(const StudyResult& result);
/// The contents of trials.csv, a row per trial: number, state, value or values_0 ..., metrics,
/// params_*, violation (if the study has constraints), seconds, reason.
std::string trials_csv(const StudyResult& result);
/// The Pareto set as a table of number, metrics and constraints, sorted by the first objective. If
/// no trial satisfies the constraints, the table has the nearest one, and its title says so.
passes::ReportTable best_table(const StudyResult& result);
/// A self-contained HTML page: formats of the best trial, history, Pareto front, parallel
/// coordinates, importance of the parameters, choices per layer of the best trials and times of
/// workers, all as inline SVG, and the table of trials.
std::string report_html(const StudyResult& result);

/// A table with layer, parameters, added loss and added cost of every choice, grouped by layer. It
/// has only a header if nothing was allocated.
passes::ReportTable sensitivity_table(const StudyResult& result, std::string (*number)(double));

/// Writes best.json, log.json, trials.csv, sensitivity.csv (after an allocation), report.html and
/// TensorBoard scalars (scaled metrics by trial number, replacing the event files in
/// `tensorboard/`) to the folder. Error(Fault::file).
void write_results(const StudyResult& result, const std::string& folder);
/// Writes only report.html.
void write_report(const StudyResult& result, const std::string& folder);

}  // namespace mase::search
