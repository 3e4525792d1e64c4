// SPDX-License-Identifier: Apache-2.0
// The figures of all targets together, and the choice of the output for a target.
#include "data/scorer.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"

namespace mase::data {
namespace {

/// "boxes.mae", or "mae" for the only target of a set.
std::string figure_name(const Target& target, std::string_view figure, bool only) {
  const std::string output = target.output();
  return (only || output.empty() ? "" : output + ".") + std::string(figure);
}

void check_shapes(const Target& target, const Array& outputs, const Array& targets) {
  const TaskRow& task = find_task(target.task);
  if (outputs.dtype() == DType::float32 &&
      outputs_fit(task, outputs.shape(), targets.shape(), target.classes()))
    return;
  std::string wanted = "float32 " + task.output_shape;
  if (target.classes() > 0) wanted += " of " + std::to_string(target.classes()) + " classes";
  file_error("the model's output for '" + target.name + "' is " +
             std::string(dtype_name(outputs.dtype())) + shape_text(outputs.shape()) +
             "; for targets of shape " + shape_text(targets.shape()) + ", task " + target.task +
             " needs " + wanted);
}

}  // namespace

const Figure* Figures::find(std::string_view name) const {
  const auto found = std::ranges::find(all, name, &Figure::name);
  return found == all.end() ? nullptr : &*found;
}

Scorers::Scorers(std::vector<Target> targets) : targets_(std::move(targets)) {
  for (Target& target : targets_) {
    target.values = {};
    scorers_.push_back(find_task(target.task).make_scorer(target));
  }
}

void Scorers::add(std::int64_t rows, const std::vector<Array>& outputs,
                  const std::vector<Array>& targets) {
  MASE_CHECK(outputs.size() == scorers_.size() && targets.size() == scorers_.size(),
             "a target has no output");
  for (std::size_t i = 0; i < scorers_.size(); ++i) {
    check_shapes(targets_[i], outputs[i], targets[i]);
    scorers_[i]->add(outputs[i], targets[i]);
  }
  rows_ += rows;
}

Figures Scorers::figures() const {
  Figures figures{rows_, 0, {}};
  const bool only = scorers_.size() == 1;
  for (std::size_t i = 0; i < scorers_.size(); ++i) {
    const std::vector<double> values = scorers_[i]->figures();
    const std::vector<FigureRow>& rows = find_task(targets_[i].task).figures;
    MASE_CHECK(values.size() == rows.size(), "a scorer has other figures than its task");
    for (std::size_t k = 0; k < rows.size(); ++k)
      figures.all.push_back({figure_name(targets_[i], rows[k].name, only), values[k], &rows[k]});
    figures.loss += targets_[i].weight * values.front();
  }
  return figures;
}

RowScores Scorers::scores() const {
  RowScores scores{figures(), {}};
  if (scorers_.size() == 1)
    scores.hits.assign(scorers_.front()->hits().begin(), scorers_.front()->hits().end());
  return scores;
}

std::size_t output_of(const Target& target, const std::vector<std::string>& results) {
  const std::string wanted = target.output();
  if (wanted.empty() && results.size() > 1)
    config_error("the model returns " + std::to_string(results.size()) + " results (" +
                 join(results, ", ") + "), and the target " + target.name +
                 " could be for each of them. If it is for " + results.front() +
                 ", call the file y_" + results.front() + ".npy, or write a table [outputs." +
                 results.front() +
                 "] into the configuration; or return the scores alone, and if state is kept in an "
                 "attribute, begin state inside forward (torch.zeros)");
  if (wanted.empty()) return 0;
  const auto found = std::ranges::find(results, wanted);
  if (found != results.end()) return static_cast<std::size_t>(found - results.begin());
  if (results.size() == 1 && wanted == "0") return 0;
  std::vector<std::string> names;
  for (const std::string& name : results) names.push_back("y_" + name);
  config_error("the model has no output '" + wanted + "' for the target " + target.name +
               (results.size() == 1 && results.front().empty()
                    ? "; it has a single output, whose target is called y"
                    : did_you_mean(target.name, names,
                                   "; its outputs have the targets " + join(names, ", "))));
}

std::vector<Array> outputs_for(const std::vector<Target>& targets,
                               const std::vector<std::pair<std::string, Array>>& results) {
  std::vector<std::string> names;
  for (const auto& result : results) names.push_back(result.first);
  std::vector<Array> outputs;
  for (const Target& target : targets) outputs.push_back(results[output_of(target, names)].second);
  return outputs;
}

std::vector<Array> outputs_for(const Dataset& dataset,
                               const std::vector<std::pair<std::string, Array>>& results) {
  const auto is_kept = [&](const auto& result) {
    return std::ranges::any_of(dataset.inputs, [&](const InputColumn& input) {
      return input.is_state() && input.name == result.first;
    });
  };
  const auto kept = static_cast<std::size_t>(std::ranges::count_if(results, is_kept));
  if (dataset.targets.size() == 1 && dataset.targets.front().output().empty() &&
      kept + 1 == results.size())
    return {std::ranges::find_if_not(results, is_kept)->second};
  return outputs_for(dataset.targets, results);
}

bool counts_classes(const Dataset& dataset) {
  return dataset.targets.size() == 1 &&
         find_task(dataset.labels().task).has_figure(figures::macro_accuracy.name);
}

}  // namespace mase::data
