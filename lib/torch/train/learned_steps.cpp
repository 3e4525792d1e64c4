// SPDX-License-Identifier: Apache-2.0
// Finds the ports that learn their step, and updates their formats.
#include "torch/train/learned_steps.hpp"

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cmath>

#include "base/diagnostics.hpp"
#include "base/error.hpp"
#include "ir/metadata.hpp"
#include "ir/op_table.hpp"

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
  for (std::size_t i = 0; i < parameters.steps().size(); ++i) {
    const Parameters::LearnedStep& step = parameters.steps()[i];
    const ir::Node& node = graph.node(step.node);
    const formats::Format& format = node.formats.at(step.port);
    const int frac = frac_width(format);
    value(i) = static_cast<float>(-frac);
    const double highest = std::max(1.0, format.range().high * std::exp2(frac));
    gradient_scales_.push_back(
        static_cast<float>(1.0 / std::sqrt(elements(graph, node, step.port) * highest)));
  }
}

void LearnedSteps::scale_gradients() {
  for (std::size_t i = 0; i < gradient_scales_.size(); ++i)
    parameters_.gradients()[parameters_.steps()[i].entry.offset] *= gradient_scales_[i];
}

void LearnedSteps::follow() {
  for (std::size_t i = 0; i < parameters_.steps().size(); ++i) {
    const Parameters::LearnedStep& step = parameters_.steps()[i];
    ir::Node& node = graph_.node(step.node);
    formats::Format& format = node.formats.at(step.port);
    const int wanted = std::clamp(static_cast<int>(-std::nearbyint(value(i))), -widest, widest);
    if (wanted == frac_width(format)) continue;
    format = with_frac_width(format, wanted);
    executor_.set_format(step.node, step.port, format);
    if (node.meta.common.size() > 0) node.meta.common = ir::common_metadata(graph_, node);
  }
}

std::vector<float> LearnedSteps::values() const {
  std::vector<float> values;
  for (std::size_t i = 0; i < parameters_.steps().size(); ++i) values.push_back(value(i));
  return values;
}

void LearnedSteps::restore(const std::vector<float>& values) {
  if (values.size() != parameters_.steps().size())
    file_error("cannot resume: the training state belongs to another model");
  for (std::size_t i = 0; i < values.size(); ++i) value(i) = values[i];
  follow();
}

float& LearnedSteps::value(std::size_t i) const {
  return parameters_.values()[parameters_.steps()[i].entry.offset];
}

}  // namespace mase::train
