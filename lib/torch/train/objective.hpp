// SPDX-License-Identifier: Apache-2.0
// What training minimises, and what its validation measures.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <optional>
#include <vector>

#include "backend/training.hpp"
#include "data/scorer.hpp"
#include "torch/run/executor.hpp"
#include "torch/train/batches.hpp"
#include "torch/train/target_losses.hpp"

namespace mase::train {

/// The losses of a model against the targets of a data set or the outputs of a teacher.
class Objective {
 public:
  /// `output` is what the model returns for the loaded rows of `batches`; a teacher runs on
  /// `device`. Error(Fault::config) if it does not fit the targets. The arguments but for `output`
  /// must outlive the object.
  Objective(const data::Dataset& data, const backend::TrainOptions& options, Batches& batches,
            const c10::IValue& output, c10::Device device);

  /// The losses that training minimises.
  TargetLosses& losses() { return *losses_; }
  /// Those of labels that a teacher replaces, for their figures.
  const std::optional<TargetLosses>& labels() const { return labels_; }

  /// What the loaded batch asks of the model's outputs.
  std::vector<at::Tensor> wanted();
  /// The loss of the loaded rows, or their share in the loss of the batch if it is divided into
  /// shards.
  PendingLoss loss(const std::vector<at::Tensor>& results);

  /// Adds the figures of the labels to those of the teacher. Their losses are not trained.
  static void add_label_figures(const data::Figures& labels, data::Figures& figures);
  /// Finds the rows of figures that were read from a state.
  void name_figures(data::Figures& figures) const;

 private:
  std::vector<double> shares() const;

  Batches& batches_;
  std::optional<libtorch::Executor> teacher_;
  std::optional<TargetLosses> losses_, labels_;
};

}  // namespace mase::train
