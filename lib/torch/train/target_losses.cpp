// SPDX-License-Identifier: Apache-2.0
// Chooses the outputs for targets and computes their losses.
#include "torch/train/target_losses.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "data/loss.hpp"
#include "data/scorer.hpp"
#include "data/task.hpp"
#include "torch/run/tensors.hpp"
#include "torch/train/checks.hpp"
#include "torch/train/device_losses.hpp"

namespace mase::train {
namespace {

/// Calls visit(name, value) for every part of a model's result that is not None.
template <class Visitor>
void for_each_result(const c10::IValue& output, Visitor&& visit) {
  const auto take = [&](const std::string& name, const c10::IValue& value) {
    if (value.isNone()) return;
    if (!value.isTensor())
      config_error("a model to train must return tensors; this one returns " +
                   results_text(output));
    visit(name, value.toTensor());
  };
  if (output.isTuple() || output.isList()) {
    const auto items = output.isTuple() ? at::ArrayRef<c10::IValue>(output.toTupleRef().elements())
                                        : output.toListRef();
    for (std::size_t i = 0; i < items.size(); ++i) take(std::to_string(i), items[i]);
  } else if (output.isGenericDict()) {
    for (const auto& entry : output.toGenericDict())
      take(entry.key().isString() ? entry.key().toStringRef() : "", entry.value());
  } else {
    take("", output);
  }
}

template <class T>
std::span<const T> values_of(const at::Tensor& tensor) {
  return {tensor.data_ptr<T>(), static_cast<std::size_t>(tensor.numel())};
}

data::Wanted wanted_values(const at::Tensor& wanted, const at::Tensor& output) {
  data::Wanted values;
  if (wanted.scalar_type() == at::kLong)
    values.classes = values_of<std::int64_t>(wanted);
  else
    values.numbers = values_of<float>(wanted);
  values.width = static_cast<std::size_t>(output.dim() > 0 ? output.size(-1) : 1);
  return values;
}

bool counts_unevenly(const data::Target& target) {
  if (target.loss_name() != "cross_entropy" || target.values.dtype() != DType::int64) return false;
  return !target.class_weights.empty() ||
         std::ranges::count(target.values.span<std::int64_t>(), data::ignored_label) > 0;
}

/// The sum of the weights of these rows' labels.
double weight_of(const data::Target& target, std::span<const std::int64_t> rows) {
  const auto labels = target.values.span<std::int64_t>();
  const std::size_t places = labels.size() / static_cast<std::size_t>(target.values.shape()[0]);
  double weight = 0;
  for (const std::int64_t row : rows)
    for (const std::int64_t label :
         labels.subspan(static_cast<std::size_t>(row) * places, places)) {
      if (label == data::ignored_label) continue;
      const auto index = static_cast<std::size_t>(label);
      weight += index < target.class_weights.size() ? double(target.class_weights[index]) : 1.0;
    }
  return weight;
}

}  // namespace

std::vector<at::Tensor> result_tensors(const c10::IValue& output) {
  if (output.isTensor()) return {output.toTensor()};
  std::vector<at::Tensor> tensors;
  for_each_result(output,
                  [&](const std::string&, at::Tensor t) { tensors.push_back(std::move(t)); });
  return tensors;
}

std::vector<std::string> result_names(const c10::IValue& output) {
  std::vector<std::string> names;
  for_each_result(output,
                  [&](const std::string& name, const at::Tensor&) { names.push_back(name); });
  return names;
}

TargetLosses::TargetLosses(std::vector<data::Target> targets, std::vector<std::string> results,
                           double label_smoothing)
    : targets_(std::move(targets)),
      results_(std::move(results)),
      label_smoothing_(label_smoothing) {
  for (const data::Target& target : targets_) {
    uneven_.push_back(counts_unevenly(target));
    const std::size_t place = data::output_of(target, results_);
    if (const auto same = std::ranges::find(places_, place); same != places_.end())
      config_error("the targets " +
                   targets_[static_cast<std::size_t>(same - places_.begin())].name + " and " +
                   target.name + " are for the same output of the model; keep one of them");
    places_.push_back(place);
  }
  for (std::size_t i = 0; i < results_.size(); ++i)
    if (std::ranges::count(places_, i) == 0)
      log::info("output " + results_[i] + " has no target y_" + results_[i] +
                " and is not trained");
}

std::vector<at::Tensor> TargetLosses::select(const std::vector<at::Tensor>& results,
                                             const std::vector<at::Tensor>& wanted) const {
  MASE_CHECK(results.size() == results_.size(), "the model returns other results than before");
  std::vector<at::Tensor> outputs;
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    outputs.push_back(results[places_[i]]);
    check_output(outputs.back(), wanted[i].sizes().vec(), targets_[i]);
  }
  return outputs;
}

PendingLoss TargetLosses::compute(const std::vector<at::Tensor>& results,
                                  const std::vector<at::Tensor>& wanted,
                                  const std::vector<double>& shares) {
  const std::vector<at::Tensor> outputs = select(results, wanted);
  gradients_.resize(results.size());
  PendingLoss loss;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const double weight = targets_[i].weight * (shares.empty() ? 1 : shares[i]);
    if (outputs[i].is_cpu())
      loss.add(compute_here(i, outputs[i], wanted[i].cpu(), weight));
    else
      loss.add(compute_there(i, outputs[i], wanted[i], weight));
  }
  return loss;
}

std::vector<double> TargetLosses::shares(std::span<const std::int64_t> part,
                                         std::span<const std::int64_t> batch) const {
  std::vector<double> shares;
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    const double all = uneven_[i] ? weight_of(targets_[i], batch) : double(batch.size());
    const double own = uneven_[i] ? weight_of(targets_[i], part) : double(part.size());
    shares.push_back(all > 0 ? own / all : 0);
  }
  return shares;
}

double TargetLosses::compute_here(std::size_t index, const at::Tensor& output,
                                  const at::Tensor& wanted, double weight) {
  const data::Target& target = targets_[index];
  const bool turned = data::find_task(target.task).classes_first;
  const at::Tensor values = (turned ? output.movedim(1, -1) : output).detach().contiguous();
  at::Tensor& gradient = gradients_[places_[index]];
  if (!gradient.defined() || gradient.sizes() != values.sizes() || turned)
    gradient = at::empty(values.sizes(), at::kFloat);
  data::LossOptions options = target.loss_options();
  options.label_smoothing = label_smoothing_;
  const std::span<float> into(gradient.data_ptr<float>(),
                              static_cast<std::size_t>(gradient.numel()));
  const double loss =
      data::find_loss(target.loss)
          .compute(values_of<float>(values), wanted_values(wanted, values), options, into);
  if (weight != 1) gradient.mul_(weight);
  if (turned) gradient = gradient.movedim(-1, 1);
  return weight * loss;
}

at::Tensor TargetLosses::compute_there(std::size_t index, const at::Tensor& output,
                                       const at::Tensor& wanted, double weight) {
  const data::Target& target = targets_[index];
  const bool turned = data::find_task(target.task).classes_first;
  data::LossOptions options = target.loss_options();
  options.label_smoothing = label_smoothing_;
  class_weights_.resize(targets_.size());
  if (!target.class_weights.empty() && !class_weights_[index].defined())
    class_weights_[index] = libtorch::tensor_of(target.class_weights).to(output.device());
  const at::AutoGradMode gradients(true);
  at::Tensor leaf = output.detach().requires_grad_();
  const at::Tensor loss =
      loss_by_operators(target.loss, turned ? leaf.movedim(1, -1) : leaf,
                        {wanted.to(output.device()), class_weights_[index]}, options)
          .mul(weight);
  loss.backward();
  gradients_[places_[index]] = leaf.grad();
  return loss.detach();
}

}  // namespace mase::train
