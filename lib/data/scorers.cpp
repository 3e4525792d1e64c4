// SPDX-License-Identifier: Apache-2.0
// The scorers of the tasks.
#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "data/loss.hpp"
#include "data/metrics.hpp"
#include "data/scorer.hpp"

namespace mase::data {
namespace {

double share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0.0 : double(part) / double(whole);
}

void check_outputs(std::span<const float> outputs, std::int64_t rows, std::int64_t done) {
  const auto bad = std::ranges::find_if_not(outputs, [](float v) { return std::isfinite(v); });
  if (bad == outputs.end()) return;
  const auto width = std::max<std::int64_t>(1, std::int64_t(outputs.size()) / rows);
  file_error("the model's output for row " +
             std::to_string(done + (bad - outputs.begin()) / width) + " is NaN or infinite");
}

class ClassScorer : public Scorer {
 public:
  ClassScorer(const Target& target, bool perplexity)
      : counter_(target.classes()), perplexity_(perplexity) {}

  void add(const Array& outputs, const Array& targets) override { counter_.add(outputs, targets); }
  std::vector<double> figures() const override {
    const Scores scores = counter_.scores();
    if (perplexity_)
      return {scores.loss, perplexity(scores.loss), scores.accuracy, scores.macro_accuracy};
    return {scores.loss, scores.accuracy, scores.macro_accuracy};
  }
  std::span<const std::uint8_t> hits() const override { return counter_.hits(); }

 private:
  ScoreCounter counter_;
  bool perplexity_;
};

/// [rows, classes, ...] as [rows, ..., classes].
Array with_classes_last(const Array& array) {
  Shape shape = array.shape();
  const auto rows = static_cast<std::size_t>(shape[0]),
             classes = static_cast<std::size_t>(shape[1]);
  const std::size_t places = array.span<float>().size() / std::max<std::size_t>(1, rows * classes);
  std::rotate(shape.begin() + 1, shape.begin() + 2, shape.end());
  Array turned(DType::float32, shape);
  const auto from = array.span<float>();
  auto into = turned.mutable_span<float>();
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t c = 0; c < classes; ++c)
      for (std::size_t at = 0; at < places; ++at)
        into[(row * places + at) * classes + c] = from[(row * classes + c) * places + at];
  return turned;
}

class SegmentationScorer : public Scorer {
 public:
  explicit SegmentationScorer(const Target& target) : counter_(target.classes()) {}

  void add(const Array& outputs, const Array& targets) override {
    counter_.add(with_classes_last(outputs), targets);
  }
  std::vector<double> figures() const override {
    const Scores scores = counter_.scores();
    double sum = 0;
    std::int64_t present = 0;
    for (const ClassCount& count : scores.classes) {
      const std::int64_t together = count.rows + count.predicted - count.correct;
      if (together == 0) continue;  // neither there nor predicted
      sum += share(count.correct, together);
      ++present;
    }
    return {scores.loss, scores.accuracy, present > 0 ? sum / double(present) : 0};
  }

 private:
  ScoreCounter counter_;
};

/// A mean of batches, weighted by their sizes.
class Mean {
 public:
  void add(double value, std::int64_t count) {
    sum_ += value * double(count);
    count_ += count;
  }
  std::int64_t count() const { return count_; }
  double value() const { return count_ == 0 ? 0 : sum_ / double(count_); }

 private:
  double sum_ = 0;
  std::int64_t count_ = 0;
};

/// Compares every element of an output with a number, and takes the mean loss.
class ElementScorer : public Scorer {
 public:
  explicit ElementScorer(const Target& target)
      : loss_row_(find_loss(target.loss_name())), options_(target.loss_options()) {}

  void add(const Array& outputs, const Array& targets) final {
    const auto given = outputs.span<float>(), wanted = targets.span<float>();
    if (wanted.empty()) return;
    const Shape& shape = targets.shape();
    check_outputs(given, shape.front(), rows_);
    const auto last = static_cast<std::size_t>(shape.back());
    loss_.add(loss_row_.compute(given, {{}, wanted, last}, options_, {}), outputs.size());
    rows_ += shape.front();
    add_elements(given, wanted, shape);
  }

 protected:
  /// Both have the same number of elements; `shape` is that of `wanted`.
  virtual void add_elements(std::span<const float> given, std::span<const float> wanted,
                            const Shape& shape) = 0;
  double loss() const { return loss_.value(); }
  std::int64_t rows() const { return rows_; }
  double elements() const { return std::max(1.0, double(loss_.count())); }

 private:
  const LossRow& loss_row_;
  LossOptions options_;
  Mean loss_;
  std::int64_t rows_ = 0;
};

/// A label is predicted if its logit is above 0, which is a probability above 1/2.
class FlagScorer : public ElementScorer {
 public:
  using ElementScorer::ElementScorer;

  std::vector<double> figures() const override {
    const std::int64_t wrong = missed_ + invented_;
    return {loss(),
            share(found_ + absent_, found_ + absent_ + wrong),
            share(exact_, rows()),
            share(found_, found_ + invented_),
            share(found_, found_ + missed_),
            share(2 * found_, 2 * found_ + wrong)};
  }

 protected:
  void add_elements(std::span<const float> given, std::span<const float> wanted,
                    const Shape& shape) override {
    const std::size_t width = wanted.size() / static_cast<std::size_t>(shape.front());
    for (std::size_t first = 0; first < wanted.size(); first += width) {
      std::int64_t right = 0;
      for (std::size_t i = first; i < first + width; ++i)
        right += count(given[i] > 0, wanted[i] > 0);
      exact_ += right == static_cast<std::int64_t>(width);
    }
  }

 private:
  /// Counts a label, and returns whether it was predicted right.
  bool count(bool given, bool wanted) {
    ++(wanted ? given ? found_ : missed_ : given ? invented_ : absent_);
    return given == wanted;
  }

  std::int64_t exact_ = 0, found_ = 0, missed_ = 0, invented_ = 0, absent_ = 0;
};

class NumberScorer : public ElementScorer {
 public:
  using ElementScorer::ElementScorer;

  std::vector<double> figures() const override {
    const double mse = squares_ / elements();
    return {loss(), mse, std::sqrt(mse), sizes_ / elements(), r2(), worst_};
  }

 protected:
  void add_elements(std::span<const float> given, std::span<const float> wanted,
                    const Shape& shape) override {
    add_columns(wanted, wanted.size() / static_cast<std::size_t>(shape.front()));
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const double error = std::fabs(double(given[i]) - double(wanted[i]));
      squares_ += error * error;
      sizes_ += error;
      worst_ = std::max(worst_, error);
    }
  }

 private:
  /// Sums of each element of a row, relative to that of the first row, so that squares stay small.
  void add_columns(std::span<const float> wanted, std::size_t width) {
    if (first_.empty()) {
      first_.assign(wanted.begin(), wanted.begin() + static_cast<std::ptrdiff_t>(width));
      sums_.resize(width);
    }
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const double value = double(wanted[i]) - double(first_[i % width]);
      sums_[i % width] += value;
      target_squares_ += value * value;
    }
  }

  /// 1 - sum (y - t)^2 / sum (t - mean of this element over the rows)^2; 0 for constant targets.
  double r2() const {
    double variation = target_squares_;
    for (const double sum : sums_) variation -= sum * sum / double(rows());
    return variation > 0 ? 1 - squares_ / variation : 0;
  }

  double squares_ = 0, sizes_ = 0, worst_ = 0, target_squares_ = 0;
  std::vector<float> first_;
  std::vector<double> sums_;
};

class TeacherScorer : public ElementScorer {
 public:
  using ElementScorer::ElementScorer;

  std::vector<double> figures() const override {
    return {loss(), share(agreeing_, vectors_), std::sqrt(squares_ / elements())};
  }

 protected:
  void add_elements(std::span<const float> given, std::span<const float> wanted,
                    const Shape& shape) override {
    const auto width = static_cast<std::size_t>(shape.back());
    for (std::size_t at = 0; at < wanted.size(); at += width) {
      agreeing_ += largest(given.subspan(at, width)) == largest(wanted.subspan(at, width));
      ++vectors_;
    }
    for (std::size_t i = 0; i < wanted.size(); ++i)
      squares_ += std::pow(double(given[i]) - double(wanted[i]), 2);
  }

 private:
  static std::ptrdiff_t largest(std::span<const float> values) {
    return std::ranges::max_element(values) - values.begin();
  }

  double squares_ = 0;
  std::int64_t vectors_ = 0, agreeing_ = 0;
};

}  // namespace

std::unique_ptr<Scorer> make_class_scorer(const Target& target) {
  return std::make_unique<ClassScorer>(target, false);
}
std::unique_ptr<Scorer> make_next_token_scorer(const Target& target) {
  return std::make_unique<ClassScorer>(target, true);
}
std::unique_ptr<Scorer> make_segmentation_scorer(const Target& target) {
  return std::make_unique<SegmentationScorer>(target);
}
std::unique_ptr<Scorer> make_flag_scorer(const Target& target) {
  return std::make_unique<FlagScorer>(target);
}
std::unique_ptr<Scorer> make_number_scorer(const Target& target) {
  return std::make_unique<NumberScorer>(target);
}
std::unique_ptr<Scorer> make_teacher_scorer(const Target& target) {
  return std::make_unique<TeacherScorer>(target);
}

}  // namespace mase::data
