// SPDX-License-Identifier: Apache-2.0
// Scorers compare the outputs of a model with the targets of a data set.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/dataset.hpp"
#include "data/task.hpp"

namespace mase::data {

/// Collects the figures of one target over batches.
class Scorer {
 public:
  virtual ~Scorer() = default;
  /// Both are of one batch and fit each other (outputs_fit); outputs are float32.
  /// Error(Fault::file) for an output that is NaN or infinite names its row.
  virtual void add(const Array& outputs, const Array& targets) = 0;
  /// The figures of the task, in its order.
  virtual std::vector<double> figures() const = 0;
  /// For each row, 1 if it was predicted correctly; empty where a row is not right or wrong.
  virtual std::span<const std::uint8_t> hits() const { return {}; }
};

std::unique_ptr<Scorer> make_class_scorer(const Target& target);
std::unique_ptr<Scorer> make_next_token_scorer(const Target& target);
std::unique_ptr<Scorer> make_segmentation_scorer(const Target& target);
std::unique_ptr<Scorer> make_flag_scorer(const Target& target);
std::unique_ptr<Scorer> make_number_scorer(const Target& target);
std::unique_ptr<Scorer> make_teacher_scorer(const Target& target);

/// The figures of all targets of a set.
struct Figures {
  std::int64_t rows = 0;
  double loss = 0;  ///< the sum of weight * loss over the targets
  std::vector<Figure> all;

  /// The figure of this name; if several targets have one, their names tell them apart. nullptr if
  /// there is none.
  const Figure* find(std::string_view name) const;
};

/// The figures of a model, and for each row 1 if it was predicted correctly; no hits for several
/// targets, or where a row is not right or wrong.
struct RowScores {
  Figures figures;
  std::vector<std::uint8_t> hits;
};

/// Measures all targets of a set over batches.
class Scorers {
 public:
  explicit Scorers(std::vector<Target> targets);

  const std::vector<Target>& targets() const { return targets_; }
  /// Adds `rows` rows; outputs are in the order of the targets. Error(Fault::file) if a shape does
  /// not fit.
  void add(std::int64_t rows, const std::vector<Array>& outputs, const std::vector<Array>& targets);
  Figures figures() const;
  RowScores scores() const;

 private:
  std::vector<Target> targets_;  ///< without values
  std::vector<std::unique_ptr<Scorer>> scorers_;
  std::int64_t rows_ = 0;
};

/// The place of the output that a target is for among results of these names: "y" is for the only
/// result, "y_1" for the second, "y_boxes" for the one called boxes. A single result has the name
/// "". Error(Fault::config) names the results, also if "y" could be for several.
std::size_t output_of(const Target& target, const std::vector<std::string>& results);
/// The results for the targets, in their order.
std::vector<Array> outputs_for(const std::vector<Target>& targets,
                               const std::vector<std::pair<std::string, Array>>& results);
/// The same for all targets of a data set that follows a model (Dataset::follow): "y" is for the
/// only result that the model does not keep from run to run.
std::vector<Array> outputs_for(const Dataset& dataset,
                               const std::vector<std::pair<std::string, Array>>& results);

/// Whether the only target has classes whose predictions can be counted one by one.
bool counts_classes(const Dataset& dataset);

}  // namespace mase::data
