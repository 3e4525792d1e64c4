// SPDX-License-Identifier: Apache-2.0
// Evaluation: the state of the reference evaluator while it walks a graph; shared by its sources.
#pragma once

#include <cmath>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>

#include "ir/op_table.hpp"
#include "reference.hpp"

namespace mase::test {

using ir::Node;
using ir::Value;
using Index = std::int64_t;

inline std::size_t at(Index i) { return static_cast<std::size_t>(i); }

RealTensor tensor_of(const Array& array);
Real power_of_two(int exponent);
Real nearest_even(Real v);  ///< for |v| < 2^100
/// Rounded to a number of an element format.
Real element(Real number, const formats::Format& format);
/// Whether a format scales elements by what others are, and the tensor with its products of codes
/// and scales: of weights the exact ones, where software rounds them to float32.
bool scales_elements(const formats::Format& format);
RealTensor scaled(RealTensor tensor, const formats::Format& format, bool exact);
/// Whether blocks share scales; the elements of each block of a tensor; the scale of one with this
/// greatest magnitude; and a number rounded in a block with a scale.
bool shares_scales(const formats::Format& format);
std::vector<std::vector<std::int64_t>> blocks_in(const formats::Format& format, const Shape& shape);
Real scale_for(Real peak, const formats::Format& format);
Real at_scale(Real number, Real scale, const formats::Format& format);

class Evaluation {
 public:
  Evaluation(const ir::Graph& graph, const std::vector<Array>& inputs) : graph_(graph) {
    std::size_t next = 0;
    for (const ir::NodeId id : graph.order()) {
      const Node& node = graph.node(id);
      node_ = &node;
      if (node.kind == ir::NodeKind::placeholder)
        results_[id] = {with_format(tensor_of(inputs[next++]), "data_out")};
      else if (node.kind == ir::NodeKind::get_attr)
        results_[id] = {with_format(tensor_of(graph.tensors.at(node.target).value), "data_out")};
      else if (node.kind == ir::NodeKind::output)
        collect(*node.find("value"));
      else
        run(node);
    }
  }

  std::vector<RealTensor> outputs;

 private:
  void collect(const Value& value) {
    if (value.is_node())
      outputs.push_back(results_.at(value.node())[0]);
    else if (value.kind() == Value::Kind::dict)
      for (const auto& [key, item] : value.entries()) collect(item);
    else
      for (const Value& item : value.items()) collect(item);
  }

  RealTensor with_format(RealTensor tensor, const std::string& port) const {
    const auto format = node_->formats.find(port);
    if (format == node_->formats.end()) return tensor;
    if (scales_elements(format->second))
      return scaled(std::move(tensor), format->second, port == "weight");
    const std::size_t channels = tensor.shape.empty() ? 1 : at(tensor.shape.front());
    const std::size_t size = tensor.values.size() / std::max<std::size_t>(1, channels);
    for (std::size_t i = 0; i < tensor.values.size(); ++i)
      tensor.values[i] = quantized(tensor.values[i], format->second, i / size);
    return tensor;
  }

  const Value* argument(const std::string& name) const {
    const Value* value = node_->find(name);
    if (!value && node_->kind == ir::NodeKind::call_module)
      value = graph_.module_of(*node_).attribute(name);
    return value && !value->is_none() ? value : nullptr;
  }
  Index whole(const std::string& name, Index otherwise) const {
    const Value* value = argument(name);
    return value ? value->as_int() : otherwise;
  }
  double number(const std::string& name, double otherwise) const {
    const Value* value = argument(name);
    return value ? value->as_double() : otherwise;
  }
  Shape list(const std::string& name, std::size_t count, Index otherwise) const {
    const Value* value = argument(name);
    Shape found;
    if (value && value->kind() == Value::Kind::integer) return Shape(count, value->as_int());
    if (value)
      for (const Value& item : value->items()) found.push_back(item.as_int());
    if (found.empty()) found = Shape(count, otherwise);
    return found;
  }

  RealTensor operand(const Value& value, const std::string& port) const {
    if (value.is_node()) return with_format(results_.at(value.node())[0], port);
    return {{}, {static_cast<Real>(static_cast<float>(value.as_double()))}};
  }
  RealTensor input(const std::string& name, const std::string& port = "data_in") const {
    return operand(*node_->find(name), port);
  }
  bool has(const std::string& name) const {
    if (node_->find(name)) return !node_->find(name)->is_none();
    return node_->kind == ir::NodeKind::call_module && graph_.module_of(*node_).tensor(name);
  }
  RealTensor parameter(const std::string& name) const {
    if (node_->find(name)) return input(name, name);
    const std::string& path = *graph_.module_of(*node_).tensor(name);
    return with_format(tensor_of(graph_.tensors.at(path).value), name);
  }

  void run(const Node& node) {
    if (node.info.kind == ir::ValueInfo::Kind::integer) return;
    const std::string op = ir::classify(graph_, node).op;
    const auto function = operators().find(op);
    if (function == operators().end()) throw std::runtime_error("reference has no op " + op);
    std::vector<RealTensor> results = function->second(*this);
    if (results.size() == 1) results[0] = with_format(results[0], "data_out");
    results_[node.id] = std::move(results);
  }

  using Operator = std::function<std::vector<RealTensor>(const Evaluation&)>;
  static const std::map<std::string, Operator>& operators();
  static void add_functions(std::map<std::string, Operator>& t);
  static void add_movements(std::map<std::string, Operator>& t);

  RealTensor map(const std::function<Real(Real)>& f) const {
    RealTensor x = input("self");
    for (Real& value : x.values) value = f(value);
    return x;
  }
  RealTensor table(const std::function<double(double)>& f) const {
    return map([&](Real x) { return static_cast<Real>(f(static_cast<double>(x))); });
  }
  RealTensor clamped(double low, double high) const {
    return map([&](Real x) {
      const Real a = static_cast<float>(low), b = static_cast<float>(high);
      return std::min(std::max(x, a), b);
    });
  }

  RealTensor linear() const;
  RealTensor product(const std::string& one, const std::string& other) const;
  RealTensor added_product(const std::string& one, const std::string& other) const;
  RealTensor convolution() const;
  RealTensor transposed_convolution() const;
  RealTensor batch_norm() const;
  RealTensor pool(bool maximum) const;
  RealTensor adaptive_pool(bool maximum) const;
  RealTensor reduced(const std::function<Real(Real, Real)>& join, bool mean) const;
  RealTensor places_of_maxima() const;
  static RealTensor joined(const RealTensor& a, const RealTensor& b,
                           const std::function<Real(Real, Real)>& f);
  RealTensor chosen_by(const std::string& mask, const std::string& a, const std::string& b) const;
  RealTensor binary(const std::function<Real(Real, Real)>& f) const;
  RealTensor cat() const;
  RealTensor embedded() const;
  RealTensor differences() const;
  std::vector<RealTensor> parts() const;
  RealTensor item() const;
  RealTensor part(const RealTensor& x, std::size_t dim, Index first, Index count,
                  Index step = 1) const;
  RealTensor reshaped() const;
  RealTensor shaped(RealTensor x) const;
  RealTensor permuted() const;
  RealTensor placed(const Shape& shape, const std::function<Shape(Shape)>& f,
                    Real filler = 0) const;
  RealTensor bilinear() const;
  RealTensor padded() const;
  RealTensor shuffled(bool up) const;

  const ir::Graph& graph_;
  const Node* node_ = nullptr;
  std::map<ir::NodeId, std::vector<RealTensor>> results_;
};

}  // namespace mase::test
