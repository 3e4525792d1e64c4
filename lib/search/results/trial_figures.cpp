// SPDX-License-Identifier: Apache-2.0
// Draws parallel coordinates, the times of workers, and the bits of the best trial's ports.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "report/html_page.hpp"
#include "report/parallel_chart.hpp"
#include "report/segment_chart.hpp"
#include "search/results/report_charts.hpp"
#include "search/results/result_rows.hpp"
#include "search/results/trial_marks.hpp"

namespace mase::search {
namespace {

using report::ParallelAxis;
using report::ParallelLine;
using report::Segment;
using report::SegmentRow;
using samplers::TrialState;
using storage::Record;

constexpr std::size_t most_lines = 500, most_axes = 24, most_workers = 40, most_ports = 120;

std::set<std::int64_t> leading_numbers(const StudyResult& result) {
  std::set<std::int64_t> numbers;
  for (const std::size_t index : leading_trials(result))
    numbers.insert(result.trials[index].trial.number);
  return numbers;
}

/// The CSS class that colours a trial.
std::string css_of(const Record& record, const std::set<std::int64_t>& leading) {
  if (record.trial.state == TrialState::fail) return "lost";
  if (leading.contains(record.trial.number)) return "best";
  return record.trial.state == TrialState::complete && record.trial.violation <= 0 ? "feasible"
                                                                                   : "infeasible";
}

// Parallel coordinates.

/// The smallest and largest finite value of an objective.
struct Range {
  double low = HUGE_VAL, high = -HUGE_VAL;

  void add(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  double place(double value) const { return high > low ? (value - low) / (high - low) : 0.5; }
};

/// The completed trials (only the newest of many), with the leading ones last, so drawn on top.
std::vector<const Record*> drawn_trials(const StudyResult& result,
                                        const std::set<std::int64_t>& leading) {
  std::vector<const Record*> trials;
  for (const Record& record : result.trials)
    if (record.trial.state == TrialState::complete) trials.push_back(&record);
  const auto leads = [&](const Record* record) { return leading.contains(record->trial.number); };
  std::stable_partition(trials.begin(), trials.end(), [&](const Record* r) { return !leads(r); });
  if (trials.size() > most_lines)
    trials.erase(trials.begin(), trials.end() - static_cast<std::ptrdiff_t>(most_lines));
  return trials;
}

class Parallel {
 public:
  explicit Parallel(const StudyResult& result)
      : result_(result),
        leading_(leading_numbers(result)),
        trials_(drawn_trials(result, leading_)),
        objectives_(objectives_of(result)),
        ranges_(objectives_.size()) {
    for (const Record* record : trials_)
      for (std::size_t i = 0; i < objectives_.size(); ++i)
        ranges_[i].add(objective_value(*record, objectives_[i], i).value_or(HUGE_VAL));
  }

  std::string figure() const {
    if (trials_.empty()) return "";
    std::vector<ParallelLine> lines;
    for (const Record* record : trials_) lines.push_back(line(*record));
    const std::string name = "parameters and objectives of the trials";
    return report::html_figure("A line per completed trial" + note(),
                               report::parallel_chart(name, axes(), lines));
  }

 private:
  std::size_t parameters() const { return std::min(result_.problem.space.size(), most_axes); }

  std::string note() const {
    return parameters() < result_.problem.space.size()
               ? "; the first " + std::to_string(most_axes) + " parameters"
               : "";
  }

  std::string text(const samplers::Distribution& distribution, double shade) const {
    const auto count = samplers::cardinality(distribution);
    if (!count) return "";
    for (std::int64_t i = 0; i < *count; ++i) {
      const double value = samplers::value_at(distribution, i);
      if (shade_of(distribution, value) == shade)
        return cell_text(samplers::external_value(distribution, value), short_number);
      if (i > 1000) break;
    }
    return "";
  }

  std::vector<ParallelAxis> axes() const {
    std::vector<ParallelAxis> out;
    for (std::size_t i = 0; i < parameters(); ++i) {
      const samplers::Dimension& dimension = result_.problem.space[i];
      out.push_back({dimension_label(dimension.name), text(dimension.distribution, 0),
                     text(dimension.distribution, 1)});
    }
    for (std::size_t i = 0; i < objectives_.size(); ++i)
      out.push_back(
          {objectives_[i].name, short_number(ranges_[i].low), short_number(ranges_[i].high)});
    return out;
  }

  ParallelLine line(const Record& record) const {
    ParallelLine line;
    for (std::size_t i = 0; i < parameters(); ++i)
      line.places.push_back(place(record, result_.problem.space[i]));
    std::string values;
    for (std::size_t i = 0; i < objectives_.size(); ++i) {
      const auto value = objective_value(record, objectives_[i], i);
      line.places.push_back(value ? std::optional(ranges_[i].place(*value)) : std::nullopt);
      if (value)
        values += (values.empty() ? "" : ", ") + objectives_[i].name + " " + short_number(*value);
    }
    line.css = css_of(record, leading_);
    line.title = trial_title(record, values);
    return line;
  }

  static std::optional<double> place(const Record& record, const samplers::Dimension& dimension) {
    const auto found = record.trial.params.find(dimension.name);
    if (found == record.trial.params.end() ||
        !samplers::contains(dimension.distribution, found->second))
      return std::nullopt;
    return shade_of(dimension.distribution, found->second);
  }

  const StudyResult& result_;
  std::set<std::int64_t> leading_;
  std::vector<const Record*> trials_;
  std::vector<Objective> objectives_;
  std::vector<Range> ranges_;
};

// Workers.

std::string worker_name(const Record& record) {
  const Tree* worker = record.trial.attributes.find(storage::worker_attribute);
  if (!worker) return "";
  const Tree *host = worker->find("host"), *pid = worker->find("pid");
  if (!host || !pid) return "";
  return cell_text(*host, short_number) + " " + cell_text(*pid, short_number);
}

/// Assigns trials to rows. Overlapping trials of one process ran in threads, which get a row each.
class Rows {
 public:
  void add(const std::string& worker, Segment segment) {
    std::vector<SegmentRow>& rows = rows_[worker];
    const auto free = std::find_if(rows.begin(), rows.end(), [&](const SegmentRow& row) {
      return row.segments.back().to <= segment.from;
    });
    if (free != rows.end()) {
      free->segments.push_back(std::move(segment));
      return;
    }
    const std::string number = rows.empty() ? "" : " (" + std::to_string(rows.size() + 1) + ")";
    rows.push_back({worker + number, {std::move(segment)}});
  }
  std::vector<SegmentRow> all() const {
    std::vector<SegmentRow> out;
    for (const auto& [worker, rows] : rows_) out.insert(out.end(), rows.begin(), rows.end());
    return out;
  }

 private:
  std::map<std::string, std::vector<SegmentRow>> rows_;
};

std::vector<const Record*> timed_trials(const StudyResult& result) {
  std::vector<const Record*> trials;
  for (const Record& record : result.trials)
    if (record.start && record.complete && !worker_name(record).empty()) trials.push_back(&record);
  std::stable_sort(trials.begin(), trials.end(),
                   [](const Record* a, const Record* b) { return *a->start < *b->start; });
  return trials;
}

}  // namespace

std::string parallel_figure(const StudyResult& result) { return Parallel(result).figure(); }

std::string workers_figure(const StudyResult& result) {
  const std::vector<const Record*> trials = timed_trials(result);
  if (trials.empty()) return "";
  const std::set<std::int64_t> leading = leading_numbers(result);
  const auto seconds = [&](std::int64_t time) {
    return static_cast<double>(time - *trials.front()->start) / 1000;
  };
  Rows rows;
  std::vector<double> ends{0};
  for (const Record* record : trials) {
    const double from = seconds(*record->start), to = seconds(*record->complete);
    ends.push_back(to);
    rows.add(worker_name(*record), {from, to, css_of(*record, leading),
                                    trial_title(*record, short_number(to - from) + " s")});
  }
  std::vector<SegmentRow> shown = rows.all();
  const std::size_t total = shown.size();
  shown.resize(std::min(total, most_workers));
  const std::string note =
      total > shown.size() ? "; the first " + std::to_string(shown.size()) + " rows" : "";
  return report::html_figure(
      "Trials by host and process" + note,
      report::segment_chart("times of workers", report::axis_over("seconds", ends), shown));
}

std::string bits_figure(const StudyResult& result) {
  const std::vector<std::size_t> leading = leading_trials(result);
  if (leading.empty() || result.leading_bits.empty()) return "";
  std::vector<double> ends{0};
  std::vector<SegmentRow> rows;
  for (const PortBits& port : result.leading_bits) {
    if (rows.size() == most_ports) break;
    ends.push_back(std::max(port.bits, port.float_bits));
    const std::string bits = short_number(port.bits) + " bits, " + port.format;
    rows.push_back({port.node + " " + port.port,
                    {{0, port.float_bits, "whole", "float: " + short_number(port.float_bits)},
                     {0, port.bits, "best", bits}}});
  }
  const std::string trial = std::to_string(result.trials[leading.front()].trial.number);
  return report::html_figure(
      "Trial " + trial + ": bits per element of every port, before those of the float model",
      report::segment_chart("formats of the best trial", report::axis_over("bits", ends), rows));
}

}  // namespace mase::search
