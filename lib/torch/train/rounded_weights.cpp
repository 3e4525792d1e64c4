// SPDX-License-Identifier: Apache-2.0
// Finds the parameters with formats and rounds them.
#include "torch/train/rounded_weights.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "torch/run/quantize_op.hpp"

namespace mase::train {

RoundedWeights::RoundedWeights(const ir::Graph& graph, libtorch::Executor& executor,
                               Parameters& parameters)
    : executor_(executor) {
  for (const ir::NodeId id : graph.order())
    for (const ir::Port& port : ir::ports(graph, graph.node(id)))
      if (!port.tensor.empty()) add(graph.node(id), port, parameters);
  if (weights_.empty())
    config_error(
        "round_weights: no trained parameter of the model has a format to which it could"
        " be rounded");
}

void RoundedWeights::add(const ir::Node& node, const ir::Port& port, Parameters& parameters) {
  const auto format = node.formats.find(port.name);
  const Parameters::Entry* entry = parameters.find(port.tensor);
  if (format == node.formats.end() || !entry) return;
  const void* memory = entry->values.data_ptr();
  const auto known = std::ranges::find_if(
      weights_, [&](const Weight& weight) { return weight.values.data_ptr() == memory; });
  if (known == weights_.end()) {
    weights_.push_back(
        {&format->second, libtorch::place_number(node.name, port.name), entry->values});
  } else if (*known->format != format->second) {
    config_error("round_weights: parameter '" + port.tensor + "' has the format " +
                 known->format->text() + ", but " + format->second.text() + " at node '" +
                 node.name + "'; give it one format");
  }
}

void RoundedWeights::round(std::int64_t step) {
  libtorch::TrainingRounding rounding = executor_.rounding();
  rounding.step = step;
  for (Weight& weight : weights_)
    libtorch::quantize_into(weight.values,
                            rounding.at(*weight.format, weight.place, libtorch::Rounded::update),
                            weight.values);
}

}  // namespace mase::train
