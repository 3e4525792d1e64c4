// SPDX-License-Identifier: Apache-2.0
// Finds the ports that learn their step, and updates their formats.
#include "torch/train/learned_steps.hpp"

#include <algorithm>
#include <cmath>

#include "base/diagnostics.hpp"
#include "base/error.hpp"
#include "ir/metadata.hpp"
#include "ir/op_table.hpp"
#include "torch/run/tensors.hpp"

namespace mase::train {
namespace {

constexpr const char* learned_field = "frac_width";
constexpr int widest = 126;  ///< largest |frac_width| of the formats

bool has_learned_field(const formats::Format& format) {
  const formats::FormatRow* row = formats::find_format(format.name());
  return row != nullptr && row->calibrated == learned_field && !format.per_channel();
}

int frac_width(const formats::Format& format) {
  return static_cast<int>(format.fields().at(learned_field).as_int());
}

formats::Format with_frac_width(const formats::Format& format, int frac_width) {
  Tree fields = format.fields();
  fields[learned_field] = frac_width;
  Diagnostics diagnostics;
  auto made = formats::find_format(format.name())->make(fields, diagnostics);
  diagnostics.throw_if_errors();
  return *made;
}

/// The number of elements at a port; for data, of one row: the gradient is a mean over rows.
double elements(const ir::Graph& graph, const ir::Node& node, const std::string& name) {
  const auto of_row = [](const ir::ValueInfo& info) {
    const Shape& shape = info.shape;
    return shape.empty() ? 1 : numel(shape) / std::max<std::int64_t>(1, shape.front());
  };
  std::int64_t count = name == "data_out" ? of_row(node.info) : 1;
  for (const ir::Port& port : ir::ports(graph, node)) {
    if (port.name != name) continue;
    if (!port.tensor.empty()) count = graph.tensors.at(port.tensor).value.size();
    port.value.for_each_node([&](ir::NodeId id) { count = of_row(graph.node(id).info); });
  }
  return static_cast<double>(std::max<std::int64_t>(1, count));
}

bool may_learn(const ir::Graph& graph, const ir::Port& port) {
  if (port.tensor.empty()) return true;
  return graph.tensors.at(port.tensor).requires_grad;
}

}  // namespace

std::vector<PortName> learnable_ports(const ir::Graph& graph) {
  std::vector<PortName> found;
  for (const ir::NodeId id : graph.order()) {
    const ir::Node& node = graph.node(id);
    const auto add = [&](const std::string& port) {
      const auto format = node.formats.find(port);
      const bool known =
          !found.empty() && std::ranges::find(found, PortName(id, port)) != found.end();
      if (!known && format != node.formats.end() && has_learned_field(format->second))
        found.emplace_back(id, port);
    };
    for (const ir::Port& port : ir::ports(graph, node))
      if (may_learn(graph, port)) add(port.name);
    add("data_out");
  }
  return found;
}

LearnedSteps::LearnedSteps(ir::Graph& graph, libtorch::Executor& executor, Parameters& parameters)
    : graph_(graph), executor_(executor), parameters_(parameters) {
  std::vector<float> logarithms, scales;
  for (std::size_t i = 0; i < parameters.steps().size(); ++i) {
    const Parameters::LearnedStep& step = parameters.steps()[i];
    const ir::Node& node = graph.node(step.node);
    const formats::Format& format = node.formats.at(step.port);
    const int frac = frac_width(format);
    logarithms.push_back(static_cast<float>(-frac));
    const double highest = std::max(1.0, format.range().high * std::exp2(frac));
    scales.push_back(
        static_cast<float>(1.0 / std::sqrt(elements(graph, node, step.port) * highest)));
  }
  if (scales.empty()) return;
  set_values(logarithms);
  gradient_scales_ = libtorch::tensor_of(scales).to(parameters.values().device());
}

void LearnedSteps::scale_gradients() {
  if (gradient_scales_.defined()) parameters_.step_gradients().mul_(gradient_scales_);
}

void LearnedSteps::follow() {
  const std::vector<float> logarithms = values();
  for (std::size_t i = 0; i < logarithms.size(); ++i) {
    const Parameters::LearnedStep& step = parameters_.steps()[i];
    ir::Node& node = graph_.node(step.node);
    formats::Format& format = node.formats.at(step.port);
    const int wanted =
        std::clamp(static_cast<int>(-std::nearbyint(logarithms[i])), -widest, widest);
    if (wanted == frac_width(format)) continue;
    format = with_frac_width(format, wanted);
    executor_.set_format(step.node, step.port, format);
    if (node.meta.common.size() > 0) node.meta.common = ir::common_metadata(graph_, node);
  }
}

std::vector<float> LearnedSteps::values() const {
  if (parameters_.steps().empty()) return {};
  return libtorch::floats_of(parameters_.step_values());
}

void LearnedSteps::restore(const std::vector<float>& values) {
  if (values.size() != parameters_.steps().size())
    file_error("cannot resume: the training state belongs to another model");
  if (values.empty()) return;
  set_values(values);
  follow();
}

void LearnedSteps::set_values(const std::vector<float>& values) {
  parameters_.step_values().copy_(libtorch::tensor_of(values));
}

}  // namespace mase::train
