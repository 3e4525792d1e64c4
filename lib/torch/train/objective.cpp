// SPDX-License-Identifier: Apache-2.0
// Finds the targets of a training and computes their losses.
#include "torch/train/objective.hpp"

#include <string>
#include <utility>

#include "backend/targets.hpp"
#include "base/error.hpp"

namespace mase::train {

Objective::Objective(const data::Dataset& data, const backend::TrainOptions& options,
                     Batches& batches, const c10::IValue& output, c10::Device device)
    : batches_(batches) {
  const std::vector<std::string> results = result_names(output);
  if (options.teacher) teacher_.emplace(*options.teacher, ir::Level::floating, device);
  losses_.emplace(teacher_ ? backend::teacher_targets(results, options)
                           : backend::training_targets(data, options),
                  results, options.label_smoothing);
  if (teacher_ && data.has_labels())
    labels_.emplace(backend::training_targets(data, {}), results, 0);
  losses_->select(result_tensors(output), wanted());
  if (labels_) labels_->select(result_tensors(output), batches_.targets());
}

std::vector<at::Tensor> Objective::wanted() {
  if (!teacher_) return batches_.targets();
  std::vector<at::Tensor> outputs = result_tensors(teacher_->run(batches_.inputs()));
  for (at::Tensor& output : outputs) output = output.contiguous();
  if (outputs.size() != losses_->targets().size())
    config_error("the teacher returns " + std::to_string(outputs.size()) +
                 " results, and the model " + std::to_string(losses_->targets().size()));
  return outputs;
}

PendingLoss Objective::loss(const std::vector<at::Tensor>& results) {
  return losses_->compute(results, wanted(),
                          batches_.shards().all == 1 ? std::vector<double>() : shares());
}

/// The share of the loaded rows in the loss of their batch, for each target.
std::vector<double> Objective::shares() const {
  if (batches_.share().rows == 0) return std::vector<double>(losses_->targets().size(), 0.0);
  return losses_->shares(batches_.rows_of_shard(), batches_.rows_of_batch());
}

void Objective::add_label_figures(const data::Figures& labels, data::Figures& figures) {
  for (const data::Figure& figure : labels.all)
    if (figure.row->name != "loss") figures.all.push_back(figure);
}

void Objective::name_figures(data::Figures& figures) const {
  data::Figures known = data::Scorers(losses_->targets()).figures();
  if (labels_) add_label_figures(data::Scorers(labels_->targets()).figures(), known);
  for (data::Figure& figure : known.all)
    if (const data::Figure* stored = figures.find(figure.name)) figure.value = stored->value;
  figures.all = std::move(known.all);
}

}  // namespace mase::train
