// SPDX-License-Identifier: Apache-2.0
// The losses of a batch over all targets, and their gradients by the outputs of the model.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <span>
#include <string>
#include <vector>

#include "data/dataset.hpp"

namespace mase::train {

/// The tensors that a model returns, in the order of their names; None is left out.
/// Error(Fault::config) for anything but a tensor and a tuple, list or dict of tensors.
std::vector<at::Tensor> result_tensors(const c10::IValue& output);
/// Their names: "" for a single tensor, "0", "1", ... or the keys of a dict.
std::vector<std::string> result_names(const c10::IValue& output);

/// The loss of a batch, which another device may still be computing.
class PendingLoss {
 public:
  /// Adds the loss of a target.
  void add(double loss) { here_ += loss; }
  void add(const at::Tensor& loss) { there_ = there_.defined() ? there_.add(loss) : loss; }
  bool is_here() const { return !there_.defined(); }
  /// Waits for the device.
  double value() const { return is_here() ? here_ : here_ + there_.item<double>(); }

 private:
  double here_ = 0;
  at::Tensor there_;
};

/// Computes the sum of weight * loss over the targets, on the device of the outputs.
class TargetLosses {
 public:
  /// `results` are the names of the model's results. Error(Fault::config) if a target has no
  /// output, or if the labels "y" could be for several.
  TargetLosses(std::vector<data::Target> targets, std::vector<std::string> results,
               double label_smoothing);

  const std::vector<data::Target>& targets() const { return targets_; }
  /// The outputs in the order of the targets. Error(Fault::config) if one does not fit `rows` rows.
  std::vector<at::Tensor> select(const std::vector<at::Tensor>& results,
                                 const std::vector<at::Tensor>& wanted) const;
  /// `wanted` are int64 or float32, in the order of the targets, on any device. Each loss is
  /// multiplied by its number in `shares`, which are 1 if there are none.
  PendingLoss compute(const std::vector<at::Tensor>& results, const std::vector<at::Tensor>& wanted,
                      const std::vector<double>& shares = {});
  /// The shares of some rows of a batch in the mean losses of the batch, for `compute`. Rows of the
  /// data set count by the weights of their classes, and ignored labels not at all.
  std::vector<double> shares(std::span<const std::int64_t> part,
                             std::span<const std::int64_t> batch) const;
  /// d loss / d result after `compute`; undefined for results without a target.
  const std::vector<at::Tensor>& gradients() const { return gradients_; }

 private:
  double compute_here(std::size_t target, const at::Tensor& output, const at::Tensor& wanted,
                      double weight);
  at::Tensor compute_there(std::size_t target, const at::Tensor& output, const at::Tensor& wanted,
                           double weight);

  std::vector<data::Target> targets_;
  std::vector<std::string> results_;
  std::vector<bool> uneven_;         ///< whether a target's rows differ in what they count
  std::vector<std::size_t> places_;  ///< of each target's output among the results
  double label_smoothing_;
  std::vector<at::Tensor> gradients_;
  std::vector<at::Tensor> class_weights_;  ///< on the outputs' device, if it is another one
};

}  // namespace mase::train
