// SPDX-License-Identifier: Apache-2.0
// Operands, attributes and results of a call.
#include "onnx/import/call.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"
#include "onnx/import/importer.hpp"

namespace mase::onnx {

std::string node_text(const Node& node) {
  return "node '" + (node.name.empty() && !node.outputs.empty() ? node.outputs[0] : node.name) +
         "' (" + (node.domain.empty() ? "" : node.domain + ".") + node.op + ")";
}

const Scope& Call::scope() const {
  if (!scope_) scope_ = importer_.scopes().of(node_);
  return *scope_;
}

void Call::refuse(const std::string& reason) const {
  unsupported_error(importer_.path() + ": " + node_text(node_) + ": " + reason);
}

void Call::wrong(const std::string& reason) const {
  file_error(importer_.path() + ": " + node_text(node_) + ": " + reason);
}

bool Call::has(std::size_t i) const { return i < count() && !node_.inputs[i].empty(); }

const Operand& Call::value(std::size_t i) const {
  if (!has(i)) wrong("operand " + std::to_string(i) + " is missing");
  return *importer_.find(node_.inputs[i]);
}

const std::vector<Operand>& Call::sequence(std::size_t i) const {
  const Operand& found = value(i);
  if (!found.items) wrong("operand '" + node_.inputs[i] + "' is not a sequence");
  return *found.items;
}

Operand& Call::operand(std::size_t i) {
  if (value(i).items) wrong("operand '" + node_.inputs[i] + "' is a sequence, not a tensor");
  Operand& found = *importer_.find(node_.inputs[i]);
  if (!found.transpose_of.empty()) {
    const Constant& matrix = *importer_.find(found.transpose_of)->constant;
    found.constant = transposed(matrix, node_.inputs[i]);
    found.transpose_of.clear();
  }
  return found;
}

Operand* Call::transpose_of(std::size_t i) {
  if (!has(i)) return nullptr;
  const std::string& matrix = importer_.find(node_.inputs[i])->transpose_of;
  return matrix.empty() ? nullptr : importer_.find(matrix);
}

ir::NodeId Call::tensor(std::size_t i) {
  Operand& one = operand(i);  // checks that there is one
  return importer_.node_of(one, "'" + node_.inputs[i] + "'");
}

ir::Value Call::scalar_or_ref(std::size_t i, std::int64_t other_rank) {
  const Operand& one = operand(i);
  if ((one.node == ir::no_node || one.constant) && rank(i) <= other_rank)
    if (const auto known = find_host(i);
        known && known->items.size() == 1 && known->dtype != DType::boolean)
      return known->items[0];
  return ref(i);
}

std::optional<HostTensor> Call::find_host(std::size_t i) {
  const Operand& one = operand(i);
  if (one.host) return one.host;
  return one.constant ? host_of(one.constant->value) : std::nullopt;
}

HostTensor Call::host(std::size_t i) {
  if (auto known = find_host(i)) return std::move(*known);
  refuse("operand '" + node_.inputs[i] +
         "' must be known when the model is imported, or follow from sizes alone");
}

std::vector<ir::Value> Call::sizes(std::size_t i) {
  HostTensor tensor = host(i);
  if (tensor.dtype != DType::int64 && tensor.dtype != DType::int32)
    wrong("operand '" + node_.inputs[i] + "' has elements other than integers");
  return std::move(tensor.items);
}

bool Call::truth(std::size_t i) {
  const auto known = has(i) ? find_host(i) : std::nullopt;
  if (!known || known->items.size() != 1 || known->dtype != DType::boolean || !known->is_constant())
    refuse("operand '" + (has(i) ? node_.inputs[i] : "") + "' must be a constant truth value");
  return known->items[0].as_bool();
}

std::vector<std::int64_t> Call::integers(std::size_t i) {
  std::vector<std::int64_t> numbers;
  for (const ir::Value& item : host(i).items) {
    if (item.kind() != ir::Value::Kind::integer)
      refuse("operand '" + node_.inputs[i] + "' must be constant integers");
    numbers.push_back(item.as_int());
  }
  return numbers;
}

double Call::number(std::size_t i) {
  const Array* array = constant(i);
  if (!array || array->size() != 1)
    refuse("operand '" + node_.inputs[i] + "' must be a constant number");
  if (const auto known = host_of(*array); known && known->dtype != DType::boolean)
    return known->items[0].as_double();
  return static_cast<double>(array->to_float32().span<float>()[0]);
}

const Array* Call::constant(std::size_t i) {
  Operand& one = operand(i);
  if (!one.constant && one.host && one.host->is_constant())
    one.constant = Constant{array_of(*one.host), "_tensor_constant", {}, false};
  return one.constant ? &one.constant->value : nullptr;
}

bool Call::is_constant() {
  for (std::size_t i = 0; i < count(); ++i)
    if (has(i) && !constant(i)) return false;
  return has(0);
}

bool Call::is_parameter() {
  const auto& known = operand(0).constant;
  return known && known->is_parameter && is_floating(known->value.dtype());
}

Shape Call::shape(std::size_t i) {
  const Operand& one = operand(i);
  if (one.constant) return one.constant->value.shape();
  return one.host ? one.host->shape : importer_.graph().node(one.node).info.shape;
}

DType Call::dtype(std::size_t i) {
  const Operand& one = operand(i);
  if (one.constant) return one.constant->value.dtype();
  return one.host ? one.host->dtype : importer_.graph().node(one.node).info.dtype;
}

ir::Value Call::size(ir::NodeId tensor, std::int64_t dim) {
  if (const auto fixed = importer_.worlds().fixed_size(tensor, static_cast<std::size_t>(dim)))
    return *fixed;
  return onnx::ref(emit("aten::size.int", {{"self", onnx::ref(tensor)}, {"dim", dim}}));
}

namespace {

/// The value of an attribute as T; nullptr when the node has none.
template <class T>
const T* value_of(const Call& call, std::string_view name) {
  const Attribute* attribute = call.node().find(name);
  if (!attribute) return nullptr;
  const T* value = std::get_if<T>(&attribute->value);
  if (!value) call.wrong("the attribute '" + std::string(name) + "' has another type");
  return value;
}

}  // namespace

std::int64_t Call::integer(std::string_view name, std::int64_t otherwise) const {
  const auto* value = value_of<std::int64_t>(*this, name);
  return value ? *value : otherwise;
}

double Call::number(std::string_view name, double otherwise) const {
  const auto* value = value_of<double>(*this, name);
  return value ? shortest_decimal(*value) : otherwise;
}

std::string Call::text(std::string_view name, const std::string& otherwise) const {
  const auto* value = value_of<std::string>(*this, name);
  return value ? *value : otherwise;
}

std::optional<std::vector<std::int64_t>> Call::integers(std::string_view name) const {
  const auto* value = value_of<Attribute::Ints>(*this, name);
  return value ? std::optional(*value) : std::nullopt;
}

std::optional<std::vector<double>> Call::numbers(std::string_view name) const {
  const auto* value = value_of<Attribute::Floats>(*this, name);
  return value ? std::optional(*value) : std::nullopt;
}

const Tensor* Call::tensor_attribute(std::string_view name) const {
  return value_of<Tensor>(*this, name);
}

std::int64_t Call::axis(std::int64_t axis, std::int64_t rank) const {
  if (axis < -rank || axis >= rank)
    wrong("axis " + std::to_string(axis) + " is outside of the " + std::to_string(rank) +
          " dimensions");
  return axis < 0 ? axis + rank : axis;
}

std::optional<std::vector<std::int64_t>> Call::axes(std::size_t operand, std::int64_t rank) {
  auto axes = has(operand) ? std::optional(integers(operand)) : integers("axes");
  if (axes)
    for (std::int64_t& one : *axes) one = axis(one, rank);
  return axes;
}

const ir::ValueInfo& Call::info(ir::NodeId id) const { return importer_.graph().node(id).info; }

void Call::rely_on(const std::string& condition) {
  const ir::Guard guard{node_text(node_), condition};
  auto& guards = importer_.graph().guards;
  if (std::ranges::find(guards, guard) != guards.end()) return;
  guards.push_back(guard);
  importer_.note("the graph is that of the example's sizes, for which " + condition + " at " +
                 guard.place);
}

void Call::result(Operand operand, std::size_t i) {
  if (wants(i)) importer_.define(node_.outputs[i], std::move(operand));
}

void Call::result(ir::NodeId node, std::size_t i) {
  Operand operand{.node = node};
  const ir::ValueInfo& known = info(node);
  if (known.kind == ir::ValueInfo::Kind::integer) {
    const auto fixed = importer_.worlds().fixed_integer(node);
    operand = {.host = HostTensor::integer(fixed ? ir::Value(*fixed) : onnx::ref(node))};
  }
  result(std::move(operand), i);
}

void Call::result(HostTensor tensor, std::size_t i) {
  result(Operand{.host = std::move(tensor)}, i);
}

ir::Value list_of(const std::vector<std::int64_t>& numbers) {
  return ir::Value::list({numbers.begin(), numbers.end()});
}

}  // namespace mase::onnx
