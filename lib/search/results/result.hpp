// SPDX-License-Identifier: Apache-2.0
// What a search leaves for people and programs: files and tables made from the study's trials.
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

/// How a port of a model is stored.
struct PortBits {
  std::string node, port;
  std::string format;     ///< "float32" without one
  double bits = 0;        ///< of an element, shared ones included
  double float_bits = 0;  ///< of the float model's element
};
/// Weights, biases and inputs of all layers that can be quantized, in the order of the graph.
std::vector<PortBits> port_bits(const ir::Graph& graph);

/// A study at one moment. Metrics of a trial are its user attributes `software_metrics`,
/// `hardware_metrics`, `scaled_metrics` and `sampled_config`; a failed one has the system attribute
/// `fail_reason`, a constrained one `constraints` (at most 0: kept).
struct StudyResult {
  std::string name;
  Options options;  ///< goals, constraints, sampler
  samplers::Problem problem;
  std::vector<storage::Record> trials;  ///< ascending number
  Tree baseline = Tree::dict();         ///< metrics of the float model, by name
  /// What exact allocation measured: {"layer", "parameters", "loss", "cost"} per choice of a layer,
  /// as it adds to the model as it is; empty when there was none.
  Tree sensitivity = Tree::list();
  std::string cost_metric = {};             ///< what "cost" is of; empty without allocation
  std::vector<PortBits> leading_bits = {};  ///< of the first of the leading trials, where known
  std::string samplers = {};                ///< "tpe, random from trial 14 on"
  /// The best trials on rows that the search did not see; without rows where there are none.
  passes::ReportTable confirmed = {};

  /// Indices of the feasible, non-dominated trials, in ascending number; none when no completed
  /// trial is feasible.
  std::vector<std::size_t> best() const;
  /// The completed trial with the least violation, of equal ones the first; nothing without
  /// completed trials.
  std::optional<std::size_t> nearest_to_feasible() const;
};

/// best.json: one object per best trial, keyed "0", "1", ...: number, value (list),
/// software_metrics, hardware_metrics, scaled_metrics, sampled_config. Empty when no trial is
/// feasible.
Tree best_tree(const StudyResult& result);
/// log.json: one object per trial, keyed "0", "1", ... (shape of the reference: number, value or
/// values_0 ..., user_attrs_*, system_attrs_* (constraints and fail_reason, where there), state,
/// datetime_start, datetime_complete, duration, times in ms).
Tree log_tree(const StudyResult& result);
std::string log_text(const StudyResult& result);
/// trials.csv: a row per trial: number, state, value or values_0 ..., metrics, params_*, violation
/// (of a study with constraints), seconds, reason.
std::string trials_csv(const StudyResult& result);
/// The Pareto set as a table: number, metrics, constraints; the best by the first objective first.
/// When no trial keeps the constraints: the nearest one, and the title says so.
passes::ReportTable best_table(const StudyResult& result);
/// One HTML page without any outside reference: formats of the best trial, history, Pareto front,
/// parallel coordinates, importance of the parameters, choices per layer of the best trials, times
/// of workers, all as inline SVG, and the table of trials.
std::string report_html(const StudyResult& result);

/// Layer, parameters, added loss and added cost of every choice, those of one layer together; a
/// header alone when nothing was allocated.
passes::ReportTable sensitivity_table(const StudyResult& result, std::string (*number)(double));

/// Writes best.json, log.json, trials.csv, sensitivity.csv of an allocation, report.html and
/// TensorBoard scalars (scaled metrics by trial number, in `tensorboard/`, in place of the event
/// files there) into the folder. Error(Fault::file).
void write_results(const StudyResult& result, const std::string& folder);
/// report.html alone.
void write_report(const StudyResult& result, const std::string& folder);

}  // namespace mase::search
