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
  std::int64_t correct = 0;    ///< rows of this class predicted rightly

  double recall() const;     ///< correct / rows; 0 without rows
  double precision() const;  ///< correct / predicted; 0 when never predicted
};

/// Rows by true class and prediction; pairs without rows are left out. A model with more outputs
/// than classes may predict a class that is none.
using Confusion = std::map<std::pair<std::size_t, std::size_t>, std::int64_t>;

/// How well a model predicts the labels of a data set: one a row, or one for every position of it,
/// each of which counts as a row here.
struct Scores {
  std::int64_t rows = 0, correct = 0;
  double loss = 0;            ///< mean cross entropy of the softmax of the outputs, in nats
  double accuracy = 0;        ///< micro: correct / rows
  double macro_accuracy = 0;  ///< mean recall of the classes that have rows
  std::vector<ClassCount> classes;
  Confusion confusion;
  std::vector<std::uint8_t> hits;      ///< per row: 1 where it was predicted rightly
  std::vector<std::size_t> predicted;  ///< per row: the class
};

/// Whether outputs of this shape are scores of classes for labels of that: the labels' shape, then
/// the classes.
bool are_scores_of(const Shape& outputs, const Shape& labels);

/// exp of the mean cross entropy in nats: as many equally likely classes would be as hard to tell.
double perplexity(double loss);

/// 95 % score interval of a share of `part` out of `whole` rows, within [0, 1]; [0, 1] without
/// rows. (Wilson 1927, J. Am. Stat. Assoc. 22:209.)
std::pair<double, double> wilson_interval(std::int64_t part, std::int64_t whole);

/// Collects batches. A prediction is the first largest output.
class ScoreCounter {
 public:
  explicit ScoreCounter(std::int64_t classes) : counts_(static_cast<std::size_t>(classes)) {}

  /// `labels` [n] or [n, positions] int64, `outputs` float32 of their shape and k behind it, with k
  /// at least the number of classes.
  /// Error(Fault::file) naming the row, counted over all batches, whose output is NaN or infinite,
  /// and when the shape does not fit.
  void add(const Array& outputs, const Array& labels);
  void add(std::span<const float> outputs, std::span<const std::int64_t> labels);
  Scores scores() const;

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
