// SPDX-License-Identifier: Apache-2.0
// Gives targets their losses.
#include "backend/targets.hpp"

#include <algorithm>
#include <numeric>

#include "base/error.hpp"
#include "base/text.hpp"

namespace mase::backend {
namespace {

void set_loss(data::Target& target, const TrainOptions& options) {
  const data::TaskRow& task = data::find_task(target.task);
  if (!target.has_own_loss) target.loss = options.loss ? options.loss->name : task.losses.front();
  if (std::ranges::count(task.losses, target.loss) == 0)
    config_error("loss = \"" + target.loss + "\": the task " + task.name + " of target " +
                 target.name + " has " + join(task.losses, ", "));
  target.huber_delta = options.huber_delta;
  target.temperature = options.distillation_temperature;
}

/// rows / (classes * rows of the class), as scikit-learn balances; 0 for a class without rows.
std::vector<float> balanced(const data::Target& target, const std::vector<std::int64_t>& rows) {
  std::vector<double> counts(static_cast<std::size_t>(target.classes()));
  const auto labels = target.values.span<std::int64_t>();
  const auto width = static_cast<std::size_t>(numel(target.shape(1)));
  for (const std::int64_t row : rows)
    for (const std::int64_t label : labels.subspan(static_cast<std::size_t>(row) * width, width))
      if (label != data::ignored_label) ++counts[static_cast<std::size_t>(label)];
  const double all = std::accumulate(counts.begin(), counts.end(), 0.0),
               classes = double(counts.size());
  std::vector<float> weights;
  for (const double count : counts)
    weights.push_back(float(count > 0 ? all / (classes * count) : 0));
  return weights;
}

void set_class_weights(data::Target& target, const data::Dataset& data,
                       const TrainOptions& options) {
  const ClassWeights& given = options.class_weights;
  target.class_weights.clear();
  if (target.classes() == 0 || (!given.balanced && given.weights.empty())) return;
  if (given.balanced) {
    target.class_weights = balanced(target, data.train);
    return;
  }
  if (static_cast<std::int64_t>(given.weights.size()) != target.classes())
    config_error("class_weights: there are " + std::to_string(given.weights.size()) +
                 " weights, but target " + target.name + " of data set " + data.name + " has " +
                 std::to_string(target.classes()) + " classes");
  target.class_weights.assign(given.weights.begin(), given.weights.end());
}

}  // namespace

bool ClassWeights::read_field(const Tree& tree, std::string_view key, const FieldRules&,
                              Diagnostics& diagnostics) {
  balanced = tree.is_string() && tree.as_string() == "balanced";
  weights.clear();
  if (balanced) return true;
  FieldRules positive;
  positive.low = 0;
  if (tree.is_list()) return field_detail::read_value(tree, key, positive, weights, diagnostics);
  field_detail::wrong_type(tree, key, "list of numbers or \"balanced\"", diagnostics);
  return false;
}

Tree ClassWeights::write_field() const {
  return balanced ? Tree("balanced") : field_detail::write_value(weights);
}

std::vector<data::Target> training_targets(const data::Dataset& data, const TrainOptions& options) {
  std::vector<data::Target> targets = data.targets;
  for (data::Target& target : targets) {
    set_loss(target, options);
    set_class_weights(target, data, options);
  }
  return targets;
}

std::vector<data::Target> teacher_targets(const std::vector<std::string>& results,
                                          const TrainOptions& options) {
  std::vector<data::Target> targets;
  for (const std::string& result : results) {
    targets.push_back({result.empty() ? "y" : "y_" + result, "distillation", {}});
    set_loss(targets.back(), options);
  }
  return targets;
}

}  // namespace mase::backend
