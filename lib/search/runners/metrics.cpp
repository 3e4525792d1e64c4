// The table of metrics, and constraints as text.
#include "search/runners/metrics.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/field.hpp"
#include "base/text.hpp"

namespace mase::search {
namespace {

constexpr Direction less = Direction::minimize, more = Direction::maximize;

}  // namespace

const std::vector<MetricRow>& metric_table() {
  static const std::vector<std::string_view> scores{"basic_evaluation", "basic_train"};
  static const std::vector<std::string_view> bits{"average_bitwidth"};
  static const std::vector<std::string_view> counts{"count_operations"};
  static const std::vector<std::string_view> design{"hardware"};
  static const std::vector<MetricRow> table{
      {"accuracy", scores, true, more, "share of rows predicted rightly (micro)"},
      {"macro_accuracy", scores, true, more, "mean recall of the classes"},
      {"loss", scores, true, less, "mean cross entropy, nats"},
      {"accuracy_drop", scores, true, less, "points of accuracy lost against the float model"},
      {"average_bitwidth", bits, false, less, "bits per element of the weights and biases"},
      {"memory_density", bits, false, more, "compare_to / average_bitwidth"},
      {"parameters", counts, false, less, "elements of weights and biases"},
      {"macs", counts, false, less, "multiply-accumulates of one sample"},
      {"flops", counts, false, less, "floating-point operations of one sample"},
      {"bitops", counts, false, less, "MACs x weight bits x activation bits of one sample"},
      {"latency", design, false, less, "cycles from the first input to the last output"},
      {"initiation_interval", design, false, less, "cycles between frames"},
      {"lut", design, false, less, "LUTs of the cost model"},
      {"ff", design, false, less, "flip-flops of the cost model"},
      {"dsp", design, false, less, "DSP blocks of the cost model"},
      {"bram", design, false, less, "RAMB36 blocks of the cost model"}};
  return table;
}

const MetricRow* find_metric(std::string_view name) {
  const auto& table = metric_table();
  const auto row = std::find_if(table.begin(), table.end(),
                                [&](const MetricRow& entry) { return entry.name == name; });
  return row == table.end() ? nullptr : &*row;
}

std::vector<std::string> metric_names() {
  std::vector<std::string> names;
  for (const MetricRow& row : metric_table()) names.emplace_back(row.name);
  return names;
}

std::string Constraint::text() const {
  return metric + (at_most ? " <= " : " >= ") + double_text(bound);
}

double Constraint::excess(double value) const {
  return (at_most ? value - bound : bound - value) / std::max(1.0, std::abs(bound));
}

std::optional<Constraint> parse_constraint(const std::string& text, const SourceLocation& where,
                                           Diagnostics& diagnostics) {
  const auto sign = std::min(text.find("<="), text.find(">="));
  const auto bound =
      sign == std::string::npos ? std::nullopt : parse_double(trim(text.substr(sign + 2)));
  if (!bound || !std::isfinite(*bound)) {
    diagnostics.error(where, "constraint '" + text +
                                 "' must read METRIC <= NUMBER or METRIC >= NUMBER, as in "
                                 "\"accuracy_drop <= 1.0\"");
    return std::nullopt;
  }
  Constraint constraint{std::string(trim(text.substr(0, sign))), text[sign] == '<', *bound, where};
  if (find_metric(constraint.metric)) return constraint;
  const auto near = nearest(constraint.metric, metric_names());
  diagnostics.error(where, "unknown metric '" + constraint.metric + "' in a constraint" +
                               (near ? "; did you mean '" + *near + "'?" : "") +
                               " Metrics: " + join(metric_names(), ", "));
  return std::nullopt;
}

double Measured::value(std::string_view metric) const {
  for (const Tree* part : {&software, &hardware})
    if (const Tree* found = part->find(metric)) return found->as_double();
  MASE_CHECK(false, "metric " + std::string(metric) + " was not measured");
}

}  // namespace mase::search
