// SPDX-License-Identifier: Apache-2.0
// Two runs over the data: magnitudes first, then every candidate of every port at once.
#include "passes/calibration/calibrator.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/text.hpp"
#include "ir/metadata.hpp"
#include "ir/op_table.hpp"
#include "passes/calibration/score.hpp"
#include "passes/statistics/values.hpp"

namespace mase::passes {
namespace {

const formats::Format& format_at(const ir::Graph& graph, const PortName& port) {
  return graph.find_node(port.node)->formats.at(port.port);
}

Source source_at(const ir::Graph& graph, const PortName& name) {
  Source all{name.text(), {}, {}};
  const ir::Node& node = *graph.find_node(name.node);
  if (name.port == "data_out") all.nodes.push_back(name.node);
  for (const ir::Port& port : ir::ports(graph, node)) {
    if (port.name != name.port) continue;
    const Source one = source_of(graph, "", port.value, port.tensor);
    all.tensors.insert(all.tensors.end(), one.tensors.begin(), one.tensors.end());
    all.nodes.insert(all.nodes.end(), one.nodes.begin(), one.nodes.end());
  }
  return all;
}

/// Largest magnitude of every source.
std::vector<double> largest_magnitudes(std::size_t sources,
                                       const std::function<void(const SeeValues&)>& run) {
  std::vector<double> largest(sources);
  run([&](std::size_t i, const Array& values) {
    for (const float value : values.span<float>())
      largest[i] = std::max(largest[i], std::fabs(double(value)));
  });
  return largest;
}

/// The scores of every port, after the run that measures them.
std::vector<PortScores> measure(const ir::Graph& graph, const std::vector<PortName>& ports,
                                const CalibrationOptions& options, const PassContext& context) {
  std::vector<Source> sources;
  for (const PortName& port : ports) sources.push_back(source_at(graph, port));
  const auto run = [&](const SeeValues& see) {
    show_values(graph, sources, ir::Level::floating, options.num_samples, context, see);
  };
  const std::vector<double> largest = largest_magnitudes(sources.size(), run);
  std::vector<PortScores> scores;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const formats::Format& format = format_at(graph, ports[i]);
    const std::string& field = formats::find_format(format.name())->calibrated;
    auto tried = largest[i] > 0 ? candidates(format, largest[i])
                                : std::vector<Candidate>{{format.fields().at(field), format, 0.0}};
    scores.emplace_back(std::move(tried), options);
  }
  run([&](std::size_t i, const Array& values) { scores[i].add(values); });
  return scores;
}

/// What was chosen for one port.
struct Choice {
  Candidate candidate;
  std::int64_t values, saturated;
  double share() const { return values > 0 ? double(saturated) / double(values) : 0.0; }
};

Choice choice_of(const PortScores& scores, const CalibrationOptions& options) {
  const std::vector<Score> measured = scores.scores();
  const std::size_t best = choose(scores.candidates(), measured, scores.count(), options);
  return {scores.candidates()[best], scores.count(), measured[best].saturated};
}

std::string percent(double share) { return fixed_text(100 * share, 3); }

std::string value_text(const Tree& value) {
  return value.is_string() ? value.as_string() : to_json(value, -1);
}

void report(const PortName& port, const Choice& choice, const CalibrationOptions& options,
            ReportTable& table, Result& result) {
  const std::string field = formats::find_format(choice.candidate.format.name())->calibrated;
  const std::string format = choice.candidate.format.text();
  table.rows.push_back({port.node, port.port, format, field, value_text(choice.candidate.value),
                        std::to_string(choice.values), percent(choice.share())});
  Tree entry = Tree::dict();
  entry["node"] = port.node;
  entry["port"] = port.port;
  entry["format"] = format;
  entry["field"] = field;
  entry["value"] = choice.candidate.value;
  entry["values"] = choice.values;
  entry["saturated"] = choice.share();
  result.info["calibrated"].push_back(std::move(entry));
  if (choice.share() > options.saturation_warning)
    result.notes.push_back(port.text() + ": " + percent(choice.share()) +
                           " % of the calibration values saturate in " + format);
}

}  // namespace

void calibrate_ports(ir::Graph& graph, const std::vector<PortName>& ports,
                     const CalibrationOptions& options, const PassContext& context,
                     Result& result) {
  if (ports.empty()) return;
  ReportTable table{"Calibration (" + options.method + ")",
                    {"Node", "Port", "Format", "Field", "Value", "Values", "Saturated [%]"},
                    {},
                    "calibration.csv"};
  const std::vector<PortScores> scores = measure(graph, ports, options, context);
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const Choice choice = choice_of(scores[i], options);
    ir::Node& node = graph.node(graph.find_node(ports[i].node)->id);
    node.formats.insert_or_assign(ports[i].port, choice.candidate.format);
    if (node.meta.common.size() > 0) node.meta.common = ir::common_metadata(graph, node);
    report(ports[i], choice, options, table, result);
  }
  result.tables.push_back(std::move(table));
}

}  // namespace mase::passes
