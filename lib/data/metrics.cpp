// SPDX-License-Identifier: Apache-2.0
// Counts correct and wrong predictions.
#include "data/metrics.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "data/loss.hpp"

namespace mase::data {
namespace {

double ratio(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

double ClassCount::recall() const { return ratio(correct, rows); }
double ClassCount::precision() const { return ratio(correct, predicted); }

bool are_scores_of(const Shape& outputs, const Shape& labels) {
  return outputs.size() == labels.size() + 1 &&
         std::equal(labels.begin(), labels.end(), outputs.begin());
}

double perplexity(double loss) { return std::exp(loss); }

std::pair<double, double> wilson_interval(std::int64_t part, std::int64_t whole) {
  if (whole == 0) return {0.0, 1.0};
  constexpr double z = 1.959963984540054;  // 97.5 % quantile of the normal distribution
  const auto n = static_cast<double>(whole);
  const double share = static_cast<double>(part) / n, scale = 1 + z * z / n;
  const double centre = (share + z * z / (2 * n)) / scale;
  const double half = z / scale * std::sqrt(share * (1 - share) / n + z * z / (4 * n * n));
  return {std::max(0.0, centre - half), std::min(1.0, centre + half)};
}

void ScoreCounter::add(const Array& outputs, const Array& labels) {
  if (outputs.dtype() != DType::float32 || !are_scores_of(outputs.shape(), labels.shape()))
    file_error("the model's output is " + std::string(dtype_name(outputs.dtype())) +
               shape_text(outputs.shape()) +
               "; a classifier gives float32 [rows, classes], or [rows, " +
               "positions, classes] for next tokens, here for labels of shape " +
               shape_text(labels.shape()));
  add(outputs.span<float>(), labels.span<std::int64_t>());
}

void ScoreCounter::add(std::span<const float> outputs, std::span<const std::int64_t> labels) {
  if (labels.empty()) return;
  const std::size_t width = outputs.size() / labels.size();
  if (width < counts_.size())
    file_error("the model has " + std::to_string(width) + " outputs, but the data set has " +
               std::to_string(counts_.size()) + " classes");
  for (std::size_t row = 0; row < labels.size(); ++row)
    if (labels[row] != ignored_label) add_row(outputs.subspan(row * width, width), labels[row]);
}

void ScoreCounter::add_row(std::span<const float> outputs, std::int64_t label) {
  MASE_CHECK(label >= 0 && static_cast<std::size_t>(label) < counts_.size(),
             "label outside of the data set's classes");
  if (std::any_of(outputs.begin(), outputs.end(),
                  [](float v) { return std::isnan(v) || v == HUGE_VALF; }))
    file_error("the model's output for row " + std::to_string(rows_) + " is NaN or infinite");
  const auto best = std::max_element(outputs.begin(), outputs.end());
  const auto predicted = static_cast<std::size_t>(best - outputs.begin());
  // log sum exp, shifted by the largest output so that nothing overflows.
  double sum = 0;
  for (float value : outputs) sum += std::exp(static_cast<double>(value) - *best);
  const auto index = static_cast<std::size_t>(label);
  loss_ += std::log(sum) + *best - static_cast<double>(outputs[index]);
  ++rows_;
  ++counts_[index].rows;
  ++confusion_[{index, predicted}];
  if (predicted < counts_.size()) ++counts_[predicted].predicted;
  hits_.push_back(predicted == index);
  predicted_.push_back(predicted);
  if (predicted != index) return;
  ++counts_[index].correct;
  ++correct_;
}

Scores ScoreCounter::scores() const {
  Scores scores{rows_,      correct_, 0,         ratio(correct_, rows_), 0, counts_,
                confusion_, hits_,    predicted_};
  scores.loss = rows_ == 0 ? 0.0 : loss_ / static_cast<double>(rows_);
  std::int64_t present = 0;
  for (const ClassCount& count : counts_) {
    present += count.rows > 0;
    scores.macro_accuracy += count.recall();
  }
  if (present > 0) scores.macro_accuracy /= static_cast<double>(present);
  return scores;
}

}  // namespace mase::data
