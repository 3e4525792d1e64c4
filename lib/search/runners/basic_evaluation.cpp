// SPDX-License-Identifier: Apache-2.0
// Measures scores on rows of the data set.
#include "search/runners/basic_evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.hpp"
#include "base/log.hpp"

namespace mase::search {
namespace {

data::Part part_of(const std::string& loader) {
  if (loader == "train_dataloader") return data::Part::train;
  return loader == "test_dataloader" ? data::Part::test : data::Part::validation;
}

}  // namespace

Tree with_data_loader(const Tree& table) {
  Tree copy = table;
  if (table.is_dict())
    for (auto& [key, entry] : copy.as_dict())
      if (key == "dataloader") key = "data_loader";
  return copy;
}

BasicEvaluation BasicEvaluation::read(const Tree& table, Diagnostics& diagnostics) {
  BasicEvaluation out;
  read_fields(with_data_loader(table), out, diagnostics);
  return out;
}

std::unique_ptr<Runner> BasicEvaluation::make(const Bench& bench) const {
  return std::make_unique<ScoreRunner>(bench, *this);
}

RowBatches batches_of(const data::Dataset& dataset, const BasicEvaluation& rows_of) {
  const std::vector<std::int64_t>& rows = dataset.rows(part_of(rows_of.data_loader));
  const auto there = static_cast<std::int64_t>(rows.size());
  const std::int64_t wanted = rows_of.num_samples.value_or(static_cast<int>(there));
  if (wanted > there)
    log::warning("num_samples = " + std::to_string(wanted) + ": the " + rows_of.data_loader +
                 " of '" + dataset.name + "' has " + std::to_string(there) +
                 " rows; all of them are used");
  return {dataset, rows, std::min(wanted, there)};
}

data::RowScores score(ir::Evaluator& evaluator, const RowBatches& batches, const SeeResults& see) {
  data::Scorers scorers(batches.dataset().targets);
  batches.for_each([&](const data::Batch& batch) {
    const ir::Results results = evaluator.run(batch.inputs);
    scorers.add(batch.targets.front().shape().front(),
                data::outputs_for(batches.dataset(), results), batch.targets);
    if (see) see(batch, results);
  });
  return scorers.scores();
}

double accuracy_drop(double before, double after, std::int64_t rows) {
  const auto count = static_cast<double>(rows);
  const auto lost = std::llround(before * count) - std::llround(after * count);
  return static_cast<double>(100 * lost) / count;
}

double accuracy_drop_bound(std::span<const std::uint8_t> before,
                           std::span<const std::uint8_t> after) {
  MASE_CHECK(before.size() == after.size(), "models were compared on other rows");
  constexpr double z = 1.6448536269514722;  // 95 % quantile of the normal distribution
  double lost = 0.5, won = 0.5;
  for (std::size_t row = 0; row < before.size(); ++row) {
    lost += before[row] > after[row];
    won += before[row] < after[row];
  }
  const double n = static_cast<double>(before.size()) + 2, mean = (lost - won) / n;
  return 100 * (mean + z * std::sqrt(((lost + won) / n - mean * mean) / n));
}

Tree figures_tree(const data::Figures& figures) {
  std::map<std::string, int> owners;
  for (const data::Figure& figure : figures.all) ++owners[std::string(figure.row->name)];
  Tree tree = Tree::dict();
  for (const data::Figure& figure : figures.all) {
    tree[figure.name] = figure.value;
    if (const std::string name(figure.row->name); owners[name] == 1) tree[name] = figure.value;
  }
  tree["loss"] = figures.loss;
  return tree;
}

ScoreRunner::ScoreRunner(const Bench& bench, BasicEvaluation rows)
    : bench_(bench), rows_(std::move(rows)), batches_(batches_of(*bench.dataset, rows_)) {}

data::RowScores ScoreRunner::scores(const ir::Graph& graph, ir::Level level,
                                    const SeeResults& see) const {
  return score(*bench_.evaluator(graph, level), batches_, see);
}

Tree ScoreRunner::baseline(ir::Graph& graph, const SeeResults& see) {
  data::RowScores found = scores(graph, ir::Level::floating, see);
  float_hits_ = std::move(found.hits);
  return figures_tree(found.figures);
}

Tree ScoreRunner::measure(ir::Graph& graph, const TrialInput& trial) const {
  const data::RowScores found = scores(graph, ir::Level::quantized, trial.see);
  Tree values = figures_tree(found.figures);
  if (float_hits_.empty()) return values;
  values["accuracy_drop"] =
      accuracy_drop(trial.baseline.at("accuracy").as_double(), values.at("accuracy").as_double(),
                    static_cast<std::int64_t>(found.hits.size()));
  values["accuracy_drop_bound"] = accuracy_drop_bound(float_hits_, found.hits);
  return values;
}

}  // namespace mase::search
