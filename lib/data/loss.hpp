// SPDX-License-Identifier: Apache-2.0
// Losses of training: the mean over a batch, and its gradient.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/field.hpp"

namespace mase::data {

/// Stands for the class of a place that no loss and no figure counts.
inline constexpr std::int64_t ignored_label = -1;

/// What a batch asks of an output: class indices, or numbers, one for each element of the output.
/// The other span is empty.
struct Wanted {
  std::span<const std::int64_t> classes{};
  std::span<const float> numbers{};
  std::size_t width = 1;  ///< elements of a row of the output: its last dimension
};

/// What losses are given besides outputs and targets.
struct LossOptions {
  double label_smoothing = 0;              ///< of cross_entropy
  std::span<const float> class_weights{};  ///< of cross_entropy; empty: 1 each
  double delta = 1;                        ///< of huber
  double temperature = 1;                  ///< of kl
};

/// A loss that users can name: one row of the table.
struct LossRow {
  std::string name;
  std::string doc;
  /// The mean loss of a batch. `gradient` gets the derivative by each output, unless it is empty.
  double (*compute)(std::span<const float> outputs, const Wanted& wanted,
                    const LossOptions& options, std::span<float> gradient);
};

const std::vector<LossRow>& loss_table();
/// Error(Fault::config) suggests the nearest name.
const LossRow& find_loss(const std::string& name);

/// The name of a loss as a setting.
struct LossName {
  std::string name;
  bool read_field(const Tree& tree, std::string_view key, const FieldRules& rules,
                  Diagnostics& diagnostics);
  Tree write_field() const { return name; }
  static std::string field_type() { return "loss"; }
};

/// `outputs` and `gradient` are [rows, width] row by row, rows = labels.size(). Returns the mean
/// over rows of -(1 - s) log p[label] - s / width * sum_j log p[j], p = softmax(outputs), s =
/// smoothing (Szegedy et al., CVPR 2016), in nats; `gradient` gets the derivative by each output.
/// Rows with the ignored label are not counted.
/// It is the fast path of cross_entropy without class weights.
double cross_entropy(std::span<const float> outputs, std::span<const std::int64_t> labels,
                     double smoothing, std::span<float> gradient);

}  // namespace mase::data
