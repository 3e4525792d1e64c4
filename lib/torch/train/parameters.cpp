// SPDX-License-Identifier: Apache-2.0
// Lays out parameters in flat buffers.
#include "torch/train/parameters.hpp"

#include <ATen/ops/zeros.h>

#include "base/error.hpp"

namespace mase::train {
namespace {

constexpr std::int64_t floats_per_line = 16;  // 64 bytes

std::vector<std::string> trainable_paths(const ir::Graph& graph) {
  std::vector<std::string> paths;
  for (const std::string& path : graph.tensor_order) {
    const ir::Tensor& tensor = graph.tensors.at(path);
    if (!tensor.requires_grad) continue;
    if (tensor.value.dtype() != DType::float32)
      unsupported_error("parameter '" + path + "' is " +
                        std::string(dtype_name(tensor.value.dtype())) +
                        "; only float32 parameters can be trained");
    paths.push_back(path);
  }
  if (paths.empty())
    config_error(
        "no parameter of the model requires a gradient (all are frozen), so there is"
        " nothing to train");
  return paths;
}

std::int64_t aligned(std::int64_t size) {
  return (size + floats_per_line - 1) / floats_per_line * floats_per_line;
}

}  // namespace

Parameters::Parameters(const ir::Graph& graph, std::map<std::string, at::Tensor>& table,
                       const std::vector<std::pair<ir::NodeId, std::string>>& steps) {
  std::int64_t total = 0;
  for (const std::string& path : trainable_paths(graph)) {
    entries_.push_back({path, static_cast<std::size_t>(total), {}, {}});
    total += aligned(graph.tensors.at(path).value.size());
  }
  decayed_ = static_cast<std::size_t>(total);
  for (const auto& [node, port] : steps) {
    steps_.push_back({node, port, {"", static_cast<std::size_t>(total), {}, {}}});
    total += aligned(1);
  }
  const auto options =
      at::TensorOptions(at::kFloat).device(table.at(entries_.front().path).device());
  values_ = at::zeros({total}, options);
  all_gradients_ = at::zeros({total + floats_per_line}, options);
  gradients_ = all_gradients_.narrow(0, 0, total);
  companions_ = all_gradients_.narrow(0, total, floats_per_line);
  for (Entry& entry : entries_) {
    at::Tensor& slot = table.at(entry.path);
    const auto view = [&](const at::Tensor& flat) {
      return flat.narrow(0, static_cast<std::int64_t>(entry.offset), slot.numel())
          .view(slot.sizes());
    };
    entry.values = view(values_).copy_(slot.detach());
    entry.leaf = view(values_).detach().set_requires_grad(true);
    entry.gradient = view(gradients_);
    slot = entry.leaf;
  }
  for (LearnedStep& step : steps_) {
    const auto place = static_cast<std::int64_t>(step.entry.offset);
    step.entry.values = values_.select(0, place);
    step.entry.leaf = values_.select(0, place).detach().set_requires_grad(true);
    step.entry.gradient = gradients_.select(0, place);
  }
}

at::Tensor Parameters::numbers_of_steps(const at::Tensor& flat) const {
  const auto count = static_cast<std::int64_t>(steps_.size());
  return flat.narrow(0, static_cast<std::int64_t>(decayed_), count * floats_per_line)
      .view({count, floats_per_line})
      .select(1, 0);
}

const Parameters::Entry* Parameters::find(const std::string& path) const {
  for (const Entry& entry : entries_)
    if (entry.path == path) return &entry;
  return nullptr;
}

const Parameters::LearnedStep* Parameters::find_step(ir::NodeId node,
                                                     const std::string& port) const {
  for (const LearnedStep& step : steps_)
    if (step.node == node && step.port == port) return &step;
  return nullptr;
}

}  // namespace mase::train
