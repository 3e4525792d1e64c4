// SPDX-License-Identifier: Apache-2.0
// Refuses what cannot be trained, and says what would work.
#include "torch/train/checks.hpp"

#include <ATen/core/Tensor.h>

#include <algorithm>

#include "base/error.hpp"
#include "data/task.hpp"
#include "ir/op_table.hpp"

namespace mase::train {
namespace {

bool has_formats(const ir::Graph& graph) {
  return std::ranges::any_of(graph.order(),
                             [&](ir::NodeId id) { return !graph.node(id).formats.empty(); });
}

}  // namespace

bool has_batch_norm(const ir::Graph& graph) {
  return std::ranges::any_of(graph.order(), [&](ir::NodeId id) {
    return ir::base_op(graph.node(id).op) == "aten::batch_norm";
  });
}

void check_data(const ir::Graph& graph, const data::Dataset& data) {
  if (data.validation.empty())
    config_error("data set " + data.name +
                 " has no validation rows, which are needed to choose the best checkpoint; use a"
                 " validation_share above 0");
  if (const std::size_t inputs = graph.placeholders().size(); inputs != data.inputs.size())
    config_error("the model has " + std::to_string(inputs) + " inputs, but a row of data set " +
                 data.name + " has " + std::to_string(data.inputs.size()));
}

std::string results_text(const c10::IValue& output) {
  const auto counted = [](const std::string& kind, std::size_t count) {
    return "a " + kind + " of " + std::to_string(count) + " results";
  };
  if (output.isTuple()) return counted("tuple", output.toTupleRef().elements().size());
  if (output.isList()) return counted("list", output.toListRef().size());
  if (!output.isGenericDict()) return "a value of kind " + output.tagKind();
  std::string names;
  for (const auto& entry : output.toGenericDict())
    names += std::string(names.empty() ? "" : ", ") + "'" +
             (entry.key().isString() ? entry.key().toStringRef() : entry.key().tagKind()) + "'";
  const std::string text = counted("dict", output.toGenericDict().size());
  return names.empty() ? text : text + " (" + names + ")";
}

void check_output(const at::Tensor& output, const Shape& wanted, const data::Target& target) {
  const data::TaskRow& task = data::find_task(target.task);
  const Shape shape = output.sizes().vec();
  if (output.scalar_type() == at::kFloat &&
      data::outputs_fit(task, shape, wanted, target.classes()))
    return;
  std::string needed = "float32 " + task.output_shape;
  if (target.classes() > 0) needed += " for " + std::to_string(target.classes()) + " classes";
  config_error("a model to train for task " + task.name + " must return " + needed +
               " where its target " + target.name + " has shape " + shape_text(wanted) +
               "; this one returns " + c10::toString(output.scalar_type()) + " " +
               shape_text(shape));
}

void check_quantization(const ir::Graph& graph, const backend::TrainOptions& options,
                        std::int64_t steps, std::size_t learned, int folded) {
  if (options.quantize_after_steps > 0 && !has_formats(graph))
    config_error(
        "quantize_after_steps: the model has no formats; give a checkpoint quantized by"
        " `mase transform`");
  if (options.quantize_after_steps > 0 && options.quantize_after_steps >= steps)
    config_error("quantize_after_steps = " + std::to_string(options.quantize_after_steps) +
                 ": the run has " + std::to_string(steps) +
                 " steps only, so the model would never be quantized");
  if (options.learn_scales && learned == 0)
    config_error(
        "learn_scales: no port of the model has a format with a frac_width (integer,"
        " integer_floor, fixed) that could be learned");
  if (options.fold_batch_norm && folded == 0)
    config_error(
        "fold_batch_norm: the model has no batch norm that follows a linear or convolution layer"
        " whose result nothing else uses");
  if (options.ema_decay && options.round_weights)
    config_error(
        "ema_decay and round_weights exclude each other: an average of weights is not on their"
        " format's grid; leave one of them out");
  if (options.fold_batch_norm && options.round_weights)
    config_error(
        "fold_batch_norm and round_weights exclude each other: folded weights are rounded, but"
        " only unfolded ones are stored; leave one of them out");
}

std::optional<formats::Format> gradient_format(const ir::Graph& graph,
                                               const backend::TrainOptions& options) {
  if (!options.gradient_format) return std::nullopt;
  if (!has_formats(graph))
    config_error(
        "gradient_format: the model has no ports with formats at which to round gradients; give"
        " a checkpoint quantized by `mase transform`");
  try {
    return formats::parse_format(*options.gradient_format);
  } catch (const Error& error) {
    throw Error(error.fault(), std::string("gradient_format: ") + error.what());
  }
}

}  // namespace mase::train
