// SPDX-License-Identifier: Apache-2.0
// Small ONNX models for tests, built in C++.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "onnx/import.hpp"
#include "onnx/model.hpp"

namespace mase::onnx {

/// A node of ONNX's own domain.
Node node_of(const std::string& op, std::vector<std::string> inputs,
             std::vector<std::string> outputs, std::vector<Attribute> attributes = {});
/// A float32 tensor of ones.
Tensor ones(const std::string& name, Shape shape);
Tensor integers(const std::string& name, const std::vector<std::int64_t>& values);
/// An input or output of type float32. A size of 0 is the symbol "batch".
ValueInfo value(const std::string& name, const Shape& shape);
/// A model of opset 20 with one input "x" and one output "y".
Model model_of(const Shape& input, std::vector<Node> nodes, std::vector<Tensor> tensors = {});

/// The text form of the imported graph, without tensors.
std::string text_of(const Model& model, const ImportOptions& options = {.path = "model.onnx"});

}  // namespace mase::onnx
