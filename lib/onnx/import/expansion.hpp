// SPDX-License-Identifier: Apache-2.0
// Expansion: rows that write a node as several others of ONNX, which other rows import.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "onnx/import/importer.hpp"

namespace mase::onnx {

/// The nodes of ONNX in the place of one.
class Expansion {
 public:
  explicit Expansion(Call& call) : call_(call), prefix_(call.node().outputs.at(0) + "/") {}

  /// Adds a node; returns the name of its result.
  std::string add(const std::string& op, std::vector<std::string> inputs,
                  std::vector<Attribute> attributes = {}) {
    Node node = call_.node();
    node.op = op;
    node.domain.clear();
    node.inputs = std::move(inputs);
    node.outputs = {prefix_ + std::to_string(nodes_.size())};
    node.attributes = std::move(attributes);
    nodes_.push_back(std::move(node));
    return nodes_.back().outputs[0];
  }
  /// The values of operand i, whose scale and zero point follow it.
  std::string values(std::size_t i, std::int64_t axis = 1) {
    return add("DequantizeLinear", {at(i), at(i + 1), at(i + 2)}, {{"axis", axis, {}}});
  }
  /// The last node, which gives the call's own result.
  void finish(const std::string& op, std::vector<std::string> inputs,
              std::vector<Attribute> attributes = {}) {
    add(op, std::move(inputs), std::move(attributes));
    nodes_.back().outputs = {call_.node().outputs[0]};
  }
  /// The last node: the codes of `values` with the scale and the zero point of operands i, i + 1.
  void quantize(const std::string& values, std::size_t i) {
    finish("QuantizeLinear", {values, at(i), at(i + 1)}, {{"axis", std::int64_t{1}, {}}});
  }
  /// Gives an operand a name that nodes may read.
  std::string define(Operand operand) {
    const std::string name = prefix_ + "operand" + std::to_string(defined_++);
    call_.importer().define(name, std::move(operand));
    return name;
  }
  std::string at(std::size_t i) const { return call_.has(i) ? call_.node().inputs[i] : ""; }
  const std::vector<Attribute>& attributes() const { return call_.node().attributes; }
  void import() { call_.importer().import_nodes(nodes_); }

 private:
  Call& call_;
  std::string prefix_;
  std::vector<Node> nodes_;
  int defined_ = 0;
};

}  // namespace mase::onnx
