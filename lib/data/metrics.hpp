// SPDX-License-Identifier: Apache-2.0
// Loss and accuracy of a classifier from its outputs, without LibTorch.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "base/array.hpp"

namespace mase::data {

/// How the rows of one class were predicted.
struct ClassCount {
  std::int64_t rows = 0;       ///< rows of this class
  std::int64_t predicted = 0;  ///< rows predicted to be of this class
  std::int64_t correct = 0;    ///< rows of this class that were predicted correctly

  double recall() const;     ///< correct / rows; 0 without rows
  double precision() const;  ///< correct / predicted; 0 when never predicted
};

/// Counts of rows by true class and prediction; pairs without rows are left out. A model with more
/// outputs than there are classes may predict a class that does not exist.
using Confusion = std::map<std::pair<std::size_t, std::size_t>, std::int64_t>;

/// How well a model predicts the labels of a data set. A row may have one label for each position;
/// each position then counts as a row here.
struct Scores {
  std::int64_t rows = 0, correct = 0;
  double loss = 0;            ///< mean cross entropy of the softmax of the outputs, in nats
  double accuracy = 0;        ///< micro accuracy: correct / rows
  double macro_accuracy = 0;  ///< mean recall of the classes that have rows
  std::vector<ClassCount> classes;
  Confusion confusion;
  std::vector<std::uint8_t> hits;      ///< per row: 1 when the prediction is correct
  std::vector<std::size_t> predicted;  ///< per row: the predicted class
};

/// True when outputs of one shape are class scores for labels of the other: they have the labels'
/// shape, followed by the classes.
bool are_scores_of(const Shape& outputs, const Shape& labels);

/// exp of the mean cross entropy in nats: this many equally likely classes would be equally hard.
double perplexity(double loss);

/// The 95 % score interval of the share of `part` in `whole` rows, within [0, 1]; [0, 1] without
/// rows. (Wilson 1927, J. Am. Stat. Assoc. 22:209.)
std::pair<double, double> wilson_interval(std::int64_t part, std::int64_t whole);

/// Collects scores over batches. The prediction is the first of the largest outputs.
class ScoreCounter {
 public:
  explicit ScoreCounter(std::int64_t classes) : counts_(static_cast<std::size_t>(classes)) {}

  /// `labels` are int64, [n] or [n, positions]; `outputs` are float32 with the same shape followed
  /// by k, which is at least the number of classes.
  /// Error(Fault::file) when shapes do not fit, and when an output is NaN or infinite; the message
  /// names its row, counted over all batches.
  void add(const Array& outputs, const Array& labels);
  void add(std::span<const float> outputs, std::span<const std::int64_t> labels);
  Scores scores() const;
  /// Per row: 1 when the prediction is correct.
  std::span<const std::uint8_t> hits() const { return hits_; }

 private:
  void add_row(std::span<const float> outputs, std::int64_t label);

  std::vector<ClassCount> counts_;
  Confusion confusion_;
  std::vector<std::uint8_t> hits_;
  std::vector<std::size_t> predicted_;
  std::int64_t rows_ = 0, correct_ = 0;
  double loss_ = 0;
};

}  // namespace mase::data
