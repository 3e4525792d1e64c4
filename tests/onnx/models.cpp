// SPDX-License-Identifier: Apache-2.0
// Models, and the text of the graphs that they become.
#include "onnx/models.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "ir/text.hpp"

namespace mase::onnx {

Node node_of(const std::string& op, std::vector<std::string> inputs,
             std::vector<std::string> outputs, std::vector<Attribute> attributes) {
  Node node;
  node.op = op;
  node.name = outputs.at(0) + "_node";
  node.inputs = std::move(inputs);
  node.outputs = std::move(outputs);
  node.attributes = std::move(attributes);
  return node;
}

Tensor ones(const std::string& name, Shape shape) {
  Array array(DType::float32, std::move(shape));
  std::ranges::fill(array.mutable_span<float>(), 1.0F);
  return {name, ElementType::float32, array, "", {}};
}

Tensor integers(const std::string& name, const std::vector<std::int64_t>& values) {
  return {name,
          ElementType::int64,
          Array::from(values, {static_cast<std::int64_t>(values.size())}),
          "",
          {}};
}

ValueInfo value(const std::string& name, const Shape& shape) {
  ValueInfo info{.name = name, .type = ElementType::float32};
  info.shape.emplace();
  for (const std::int64_t size : shape)
    info.shape->push_back(size == 0 ? Dimension{std::nullopt, "batch"} : Dimension{size, ""});
  return info;
}

Model model_of(const Shape& input, std::vector<Node> nodes, std::vector<Tensor> tensors) {
  Model model;
  model.ir_version = 10;
  model.opsets = {{"", 20}};
  model.graph.name = "net";
  model.graph.nodes = std::move(nodes);
  model.graph.initializers = std::move(tensors);
  model.graph.inputs = {value("x", input)};
  model.graph.outputs = {{.name = "y", .type = ElementType::float32}};
  return model;
}

std::string text_of(const Model& model, const ImportOptions& options) {
  const ir::Graph graph = import_model(model, options).graph;
  std::string text;
  for (const std::string& line : split(ir::print(graph, {.metadata = false}), '\n'))
    if (line.find("  %") == 0) text += line.substr(2) + "\n";
  return text;
}

}  // namespace mase::onnx
