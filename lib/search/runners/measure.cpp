// SPDX-License-Identifier: Apache-2.0
// Loops over the runners that the configuration has.
#include "search/runners/measure.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"

namespace mase::search {
namespace {

void add(const Tree& values, Tree& part) {
  for (const auto& [metric, value] : values.as_dict()) part[metric] = value;
}

void add(Measured& measured, const RunnerRow& row, const Tree& values) {
  add(values, row.kind == RunnerKind::software ? measured.software : measured.hardware);
}

/// The options of a trial for a runner.
Tree own_options(const Recipe& recipe, const RunnerRow& row) {
  const Tree* own = recipe.runner_options.find(row.name);
  return own ? *own : Tree::dict();
}

}  // namespace

Measurer::Measurer(Bench bench, const Options& options)
    : bench_(std::move(bench)), options_(options) {
  for (const RunnerRow* row : given_rows(options.runners))
    given_.push_back({row, row->make(options.runners, bench_)});
  for (const Given& given : given_)
    if (!shown_ && given.runner->runs_model()) shown_ = given.runner.get();
  own_.emplace(bench_, options, shown_ != nullptr);
}

Measured Measurer::baseline(const ir::Graph& graph) {
  Measured measured;
  ir::Graph copy = graph;
  MetricRows rows = own_->rows();
  const SeeResults see = own_->seer(rows), none;
  for (Given& given : given_) {
    given.baseline = given.runner->baseline(copy, given.runner.get() == shown_ ? see : none);
    add(measured, *given.row, given.baseline);
  }
  add_own(own_->measure(rows, copy, ir::Level::floating), measured);
  return measured;
}

ir::Graph Measurer::build(const ir::Graph& graph, const Recipe& recipe) const {
  ir::Graph copy = graph;
  for (const passes::PassCall& call : recipe.calls) {
    const passes::PassRow* row = passes::find_pass(*bench_.passes, call.name);
    MASE_CHECK(row, "no pass " + call.name);
    passes::PassContext context = bench_.context;
    row->run(copy, call.options, context);
  }
  return copy;
}

Measured Measurer::operator()(const ir::Graph& graph, const Recipe& recipe, const Report& report,
                              ir::Graph* made) const {
  ir::Graph copy = build(graph, recipe);
  for (const Given& given : given_) given.runner->prepare(copy, tell(report));
  Measured measured;
  MetricRows rows = own_->rows();
  const SeeResults see = own_->seer(rows), none;
  for (const Given& given : given_) {
    const Tree options = own_options(recipe, *given.row);
    add(measured, *given.row,
        given.runner->measure(
            copy, {given.baseline, options, given.runner.get() == shown_ ? see : none}));
  }
  add_own(own_->measure(rows, copy, ir::Level::quantized), measured);
  if (made) *made = std::move(copy);
  return measured;
}

void Measurer::require_printed(const Tree& programs) const {
  std::vector<std::string> printed;
  for (const auto& entry : programs.as_dict()) printed.push_back(entry.first);
  for (const std::string& name : options_.needed_metrics()) {
    const OwnMetric* source = options_.own.source(name);
    if (!source || !source->is_program() || programs.find(name)) continue;
    file_error(source->text() + " did not print '" + name + "', which the search needs" +
               did_you_mean(name, printed, ";") + " it printed " + join(printed, ", "));
  }
}

void Measurer::add_own(const Tree& programs, Measured& measured) const {
  require_printed(programs);
  add(programs, measured.software);
  const OwnMetrics& own = options_.own;
  for (const OwnMetric* row : options_.needed_own()) {
    if (row->is_program()) continue;
    const auto sum =
        own.sum_of(*row, [&](const std::string& metric) { return measured.find(metric); });
    Tree& part = own.is_hardware(row->name) ? measured.hardware : measured.software;
    if (sum) part[row->name] = *sum;
  }
}

/// Reports every epoch to pruners if the only objective is a metric that training validates.
TellEpoch Measurer::tell(const Report& report) const {
  return [this, &report](std::int64_t epoch, const Tree& validation) {
    const Goal& goal = options_.goals.front();
    const Tree* value = validation.find(goal.metric);
    if (value && options_.goals.size() == 1) report(epoch, goal.scale * value->as_double());
  };
}

bool Measurer::trains() const {
  return std::any_of(given_.begin(), given_.end(),
                     [](const Given& given) { return given.row->trains(); });
}

std::vector<passes::PassCall> Measurer::pass_calls(const Recipe& recipe) const {
  std::vector<passes::PassCall> calls;
  for (const Given& given : given_)
    if (auto call = given.runner->pass(own_options(recipe, *given.row)))
      calls.push_back(std::move(*call));
  return calls;
}

const BasicEvaluation* Measurer::rows() const {
  for (const Given& given : given_)
    if (const BasicEvaluation* rows = given.runner->rows()) return rows;
  return nullptr;
}

}  // namespace mase::search
