// SPDX-License-Identifier: Apache-2.0
// The table of losses.
#include "data/loss.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/text.hpp"

namespace mase::data {
namespace {

/// Writes the softmax of `row` to `into` and returns log sum exp.
float softmax(std::span<const float> row, std::span<float> into) {
  // Shifted by the largest output so that nothing overflows.
  const float highest = *std::max_element(row.begin(), row.end());
  float sum = 0;
  for (std::size_t j = 0; j < row.size(); ++j) sum += into[j] = std::exp(row[j] - highest);
  const float scale = 1.0f / sum;
  for (float& value : into) value *= scale;
  return highest + std::log(sum);
}

/// As PyTorch weighs: the sum of weight * loss over rows, and over classes for the smoothed part,
/// divided by the sum of the labels' weights.
double weighted_cross_entropy(std::span<const float> outputs, std::span<const std::int64_t> labels,
                              const LossOptions& options, std::span<float> gradient) {
  const std::size_t rows = labels.size(), width = outputs.size() / rows;
  // A model may have more outputs than there are classes; those have no weight of their own.
  const auto weight = [&](std::size_t j) {
    return j < options.class_weights.size() ? double(options.class_weights[j]) : 1.0;
  };
  double total = 0, loss = 0;
  for (const std::int64_t label : labels)
    if (label != ignored_label) total += weight(static_cast<std::size_t>(label));
  if (total == 0) total = 1;  // a batch of classes without weight teaches nothing
  const double spread = options.label_smoothing / double(width);
  std::vector<float> shares(width);
  for (std::size_t i = 0; i < rows; ++i) {
    const auto row = outputs.subspan(i * width, width);
    if (labels[i] == ignored_label) {
      if (!gradient.empty()) std::ranges::fill(gradient.subspan(i * width, width), 0.0f);
      continue;
    }
    const auto label = static_cast<std::size_t>(labels[i]);
    const double log_sum = softmax(row, shares), keep = 1 - options.label_smoothing;
    double sum = keep * weight(label);  // of the weights of this row's terms
    loss += sum * (log_sum - double(row[label]));
    for (std::size_t j = 0; spread > 0 && j < width; ++j) {
      loss += spread * weight(j) * (log_sum - double(row[j]));
      sum += spread * weight(j);
    }
    for (std::size_t j = 0; j < gradient.size() / rows; ++j)
      gradient[i * width + j] =
          float((sum * double(shares[j]) - (spread > 0 ? spread * weight(j) : 0.0) -
                 (j == label ? keep * weight(label) : 0.0)) /
                total);
  }
  return loss / total;
}

double any_cross_entropy(std::span<const float> outputs, const Wanted& wanted,
                         const LossOptions& options, std::span<float> gradient) {
  if (options.class_weights.empty() && !gradient.empty())
    return cross_entropy(outputs, wanted.classes, options.label_smoothing, gradient);
  return weighted_cross_entropy(outputs, wanted.classes, options, gradient);
}

/// The mean over all elements of term(output, wanted), which returns the loss and the derivative.
template <class Term>
double mean_of(std::span<const float> outputs, std::span<const float> wanted,
               std::span<float> gradient, Term&& term) {
  const double scale = 1.0 / double(outputs.size());
  double loss = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto [value, derivative] = term(double(outputs[i]), double(wanted[i]));
    loss += value;
    if (!gradient.empty()) gradient[i] = float(derivative * scale);
  }
  return loss * scale;
}

/// On logits. The form does not overflow for large outputs.
double binary_cross_entropy(std::span<const float> outputs, const Wanted& wanted,
                            const LossOptions&, std::span<float> gradient) {
  return mean_of(outputs, wanted.numbers, gradient, [](double x, double t) {
    const double tail = std::exp(-std::fabs(x));
    const double share = x >= 0 ? 1 / (1 + tail) : tail / (1 + tail);
    return std::pair(std::max(x, 0.0) - x * t + std::log1p(tail), share - t);
  });
}

double mean_squared_error(std::span<const float> outputs, const Wanted& wanted, const LossOptions&,
                          std::span<float> gradient) {
  return mean_of(outputs, wanted.numbers, gradient,
                 [](double x, double t) { return std::pair((x - t) * (x - t), 2 * (x - t)); });
}

double mean_absolute_error(std::span<const float> outputs, const Wanted& wanted, const LossOptions&,
                           std::span<float> gradient) {
  return mean_of(outputs, wanted.numbers, gradient, [](double x, double t) {
    return std::pair(std::fabs(x - t), double(x > t) - double(x < t));
  });
}

double huber(std::span<const float> outputs, const Wanted& wanted, const LossOptions& options,
             std::span<float> gradient) {
  const double delta = options.delta;
  return mean_of(outputs, wanted.numbers, gradient, [delta](double x, double t) {
    const double d = x - t, size = std::fabs(d);
    return size <= delta ? std::pair(d * d / 2, d)
                         : std::pair(delta * (size - delta / 2), std::copysign(delta, d));
  });
}

/// exp(row / temperature), divided by its sum; returns log sum exp.
double warm_softmax(std::span<const float> row, double temperature, std::span<double> into) {
  const double highest = double(*std::max_element(row.begin(), row.end())) / temperature;
  double sum = 0;
  for (std::size_t j = 0; j < row.size(); ++j)
    sum += into[j] = std::exp(double(row[j]) / temperature - highest);
  for (double& value : into) value /= sum;
  return highest + std::log(sum);
}

/// The divergence of the teacher's distribution from the student's, times temperature^2, which
/// keeps the size of gradients (Hinton, Vinyals and Dean, arXiv:1503.02531).
double kullback_leibler(std::span<const float> outputs, const Wanted& wanted,
                        const LossOptions& options, std::span<float> gradient) {
  const std::size_t width = wanted.width, rows = outputs.size() / width;
  const double t = options.temperature;
  std::vector<double> student(width), teacher(width);
  double loss = 0;
  for (std::size_t at = 0; at < outputs.size(); at += width) {
    const auto row = outputs.subspan(at, width), goal = wanted.numbers.subspan(at, width);
    const double own = warm_softmax(row, t, student), other = warm_softmax(goal, t, teacher);
    for (std::size_t j = 0; j < width; ++j) {
      loss += teacher[j] * ((double(goal[j]) - double(row[j])) / t + own - other);
      if (!gradient.empty()) gradient[at + j] = float(t * (student[j] - teacher[j]) / double(rows));
    }
  }
  return t * t * loss / double(rows);
}

}  // namespace

double cross_entropy(std::span<const float> outputs, std::span<const std::int64_t> labels,
                     double smoothing, std::span<float> gradient) {
  const std::size_t rows = labels.size(), width = outputs.size() / rows;
  const float spread = static_cast<float>(smoothing / static_cast<double>(width));
  const auto counted = rows - static_cast<std::size_t>(std::ranges::count(labels, ignored_label));
  if (counted == 0) {
    std::ranges::fill(gradient, 0.0f);
    return 0;
  }
  const float keep = static_cast<float>(1.0 - smoothing);
  const float mean = 1.0f / static_cast<float>(counted);
  double loss = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    const auto row = outputs.subspan(i * width, width);
    const auto into = gradient.subspan(i * width, width);
    if (labels[i] == ignored_label) {
      std::ranges::fill(into, 0.0f);
      continue;
    }
    const auto label = static_cast<std::size_t>(labels[i]);
    const float log_sum = softmax(row, into);
    loss += static_cast<double>(keep) * static_cast<double>(log_sum - row[label]);
    if (smoothing > 0)
      for (float value : row) loss += static_cast<double>(spread) * (log_sum - value);
    into[label] -= keep;
    for (float& value : into) value = (value - spread) * mean;
  }
  return loss / static_cast<double>(counted);
}

const std::vector<LossRow>& loss_table() {
  static const std::vector<LossRow> table{
      {"cross_entropy", "cross entropy of the softmax with the class, nats", any_cross_entropy},
      {"binary_cross_entropy", "cross entropy of every output's sigmoid with its flag, nats",
       binary_cross_entropy},
      {"mse", "mean squared error", mean_squared_error},
      {"l1", "mean absolute error", mean_absolute_error},
      {"huber", "squared error up to huber_delta, and absolute beyond", huber},
      {"kl", "Kullback-Leibler divergence from the teacher's softmax, nats", kullback_leibler},
  };
  return table;
}

bool LossName::read_field(const Tree& tree, std::string_view key, const FieldRules& rules,
                          Diagnostics& diagnostics) {
  std::string given;
  if (!field_detail::read_value(tree, key, rules, given, diagnostics)) return false;
  try {
    name = find_loss(given).name;
    return true;
  } catch (const Error& error) {
    diagnostics.error(tree.where, error.what());
    return false;
  }
}

const LossRow& find_loss(const std::string& name) {
  std::vector<std::string> names;
  for (const LossRow& row : loss_table()) {
    if (row.name == name) return row;
    names.push_back(row.name);
  }
  config_error("unknown loss '" + name + "'" +
               did_you_mean(name, names, "; known: " + join(names, ", ")));
}

}  // namespace mase::data
