// SPDX-License-Identifier: Apache-2.0
// Arguments of a node as values of ONNX, and the nodes of ONNX that rows need often.
#include "onnx/export/node_writer.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "base/error.hpp"
#include "onnx/export/exporter.hpp"

namespace mase::onnx {

Attribute attribute(std::string name, Attribute::Value value) {
  return {std::move(name), std::move(value), "", ""};
}

Integers both_sides(const Integers& padding) {
  Integers pads = padding;
  pads.insert(pads.end(), padding.begin(), padding.end());
  return pads;
}

std::size_t leaves(const ir::ValueInfo& result) {
  using Kind = ir::ValueInfo::Kind;
  if (result.kind != Kind::list && result.kind != Kind::tuple && result.kind != Kind::dict)
    return 1;
  std::size_t count = 0;
  for (const ir::ValueInfo& item : result.elements) count += leaves(item);
  return count;
}

const ir::Graph& NodeWriter::graph() const { return exporter_.graph(); }
std::int64_t NodeWriter::opset() const { return exporter_.opset(); }
void NodeWriter::refuse(const std::string& reason) const { unsupported_error(reason); }

const ir::Value* NodeWriter::find(std::string_view argument) const {
  const ir::Value* value = graph().argument(node_, argument);
  return value && !value->is_none() ? value : nullptr;
}

bool NodeWriter::has(std::string_view argument) const {
  return find(argument) || graph().tensor_of(node_, argument);
}

std::int64_t NodeWriter::integer(std::string_view argument, std::int64_t otherwise) const {
  const ir::Value* value = find(argument);
  if (!value) return otherwise;
  if (value->kind() != ir::Value::Kind::integer)
    refuse("its argument '" + std::string(argument) + "' must be a constant");
  return value->as_int();
}

double NodeWriter::number(std::string_view argument, double otherwise) const {
  const ir::Value* value = find(argument);
  if (!value) return otherwise;
  if (!value->is_number())
    refuse("its argument '" + std::string(argument) + "' must be a constant");
  return value->as_double();
}

bool NodeWriter::flag(std::string_view argument, bool otherwise) const {
  const ir::Value* value = find(argument);
  if (!value) return otherwise;
  return value->kind() == ir::Value::Kind::boolean && value->as_bool();
}

std::string NodeWriter::text(std::string_view argument, const std::string& otherwise) const {
  const ir::Value* value = find(argument);
  return value && value->kind() == ir::Value::Kind::string ? value->as_string() : otherwise;
}

std::optional<Integers> NodeWriter::integers(std::string_view argument) const {
  const ir::Value* value = find(argument);
  if (!value) return std::nullopt;
  if (value->kind() == ir::Value::Kind::integer) return Integers{value->as_int()};
  if (value->kind() != ir::Value::Kind::list && value->kind() != ir::Value::Kind::tuple)
    return std::nullopt;
  Integers numbers;
  for (const ir::Value& item : value->items()) {
    if (item.kind() != ir::Value::Kind::integer) return std::nullopt;
    numbers.push_back(item.as_int());
  }
  return numbers;
}

Integers NodeWriter::integers(std::string_view argument, std::size_t count,
                              std::int64_t otherwise) const {
  Integers numbers = integers(argument).value_or(Integers{});
  if (numbers.empty()) numbers = {otherwise};
  if (numbers.size() == 1) numbers.resize(count, numbers[0]);
  if (numbers.size() != count) refuse("its argument '" + std::string(argument) + "' is too long");
  return numbers;
}

std::string NodeWriter::value(ir::NodeId id) {
  const Names& values = exporter_.values(id);
  if (values.size() != 1) refuse("it reads a list of tensors as one tensor");
  return values[0];
}

const Names& NodeWriter::values(ir::NodeId id) { return exporter_.values(id); }

std::string NodeWriter::tensor(std::string_view argument) {
  if (const ir::Value* value = find(argument); value && value->is_node())
    return rounded(argument, this->value(value->node()), value->node());
  const std::string* path = graph().tensor_of(node_, argument);
  if (!path) refuse("its argument '" + std::string(argument) + "' must be a tensor");
  return rounded(argument, exporter_.initializer(*path), ir::no_node, path);
}

Names NodeWriter::layer_tensors(std::string_view argument) {
  Names names;
  for (const auto& [name, path] : graph().module_of(node_).tensors)
    if (name == argument)
      names.push_back(rounded(argument, exporter_.initializer(path), ir::no_node, &path));
  return names;
}

DType NodeWriter::dtype_of(const ir::Value& value) const {
  using Kind = ir::Value::Kind;
  const auto of_info = [](const ir::ValueInfo& info) {
    switch (info.kind) {
      case ir::ValueInfo::Kind::tensor:
        return info.dtype;
      case ir::ValueInfo::Kind::integer:
        return DType::int64;
      case ir::ValueInfo::Kind::boolean:
        return DType::boolean;
      default:
        return DType::float64;
    }
  };
  if (value.is_node()) return of_info(graph().node(value.node()).info);
  if (value.kind() == Kind::boolean) return DType::boolean;
  return value.kind() == Kind::integer ? DType::int64 : DType::float64;
}

DType NodeWriter::dtype(std::string_view argument) const {
  if (const ir::Value* value = find(argument)) return dtype_of(*value);
  const std::string* path = graph().tensor_of(node_, argument);
  if (!path) refuse("its argument '" + std::string(argument) + "' must be a tensor");
  return graph().tensors.at(*path).value.dtype();
}

DType NodeWriter::result_dtype() const { return dtype_of(ir::NodeRef{node_.id}); }

const ir::ValueInfo& NodeWriter::info(std::string_view argument) const {
  const ir::Value* value = find(argument);
  if (!value || !value->is_node())
    refuse("its argument '" + std::string(argument) + "' must be computed by a node");
  return graph().node(value->node()).info;
}

const Shape& NodeWriter::tensor_shape(std::string_view argument) const {
  const std::string* path = graph().tensor_of(node_, argument);
  return path ? graph().tensors.at(*path).value.shape() : shape(argument);
}

std::int64_t NodeWriter::rank(std::string_view argument) const {
  return static_cast<std::int64_t>(shape(argument).size());
}

std::optional<std::int64_t> NodeWriter::fixed_size(std::string_view argument,
                                                   std::int64_t dim) const {
  const ir::Value* value = find(argument);
  if (!value || !value->is_node()) return std::nullopt;
  return exporter_.symbols().fixed_size(value->node(), static_cast<std::size_t>(dim));
}

std::string NodeWriter::operand_of(const ir::Value& value, DType dtype) {
  if (value.is_node()) return cast(this->value(value.node()), dtype_of(value), dtype);
  if (value.kind() == ir::Value::Kind::boolean) return scalar(value.as_bool() ? 1 : 0, dtype);
  if (!value.is_number()) refuse("it has an argument that is neither a tensor nor a number");
  return scalar(value.as_double(), dtype);
}

std::string NodeWriter::operand(std::string_view argument, DType dtype) {
  if (const ir::Value* value = find(argument); value && !value->is_node())
    return operand_of(*value, dtype);
  return cast(tensor(argument), this->dtype(argument), dtype);
}

std::string NodeWriter::sizes(const ir::Value& list) {
  if (list.is_node()) {  // a list of all sizes, or one size
    const Names& values = exporter_.values(list.node());
    Names parts;
    for (const std::string& one : values) parts.push_back(unsqueezed(one, {0}));
    return parts.size() == 1 ? parts[0] : write("Concat", parts, {along(0)});
  }
  const ir::Value::List items =
      list.kind() == ir::Value::Kind::integer ? ir::Value::List{list} : list.items();
  Names parts;
  Integers known;
  const auto flush = [&] {
    if (!known.empty()) parts.push_back(ints(std::exchange(known, {})));
  };
  for (const ir::Value& item : items) {
    if (item.kind() == ir::Value::Kind::integer) {
      known.push_back(item.as_int());
    } else if (item.is_node()) {
      flush();
      parts.push_back(unsqueezed(operand_of(item, DType::int64), {0}));
    } else {
      refuse("a size is not an integer");
    }
  }
  if (parts.empty()) return ints(known);
  flush();
  return parts.size() == 1 ? parts[0] : write("Concat", parts, {along(0)});
}

Names NodeWriter::tensors(std::string_view argument) {
  const ir::Value* list = find(argument);
  if (!list) refuse("its argument '" + std::string(argument) + "' must be tensors");
  if (list->is_node()) return exporter_.values(list->node());
  Names names;
  for (const ir::Value& item : list->items()) {
    if (!item.is_node()) refuse("its argument '" + std::string(argument) + "' must be tensors");
    const std::string name = rounded(argument, value(item.node()), item.node());
    names.push_back(cast(name, dtype_of(item), result_dtype()));
  }
  return names;
}

const Node* NodeWriter::writer_of(const std::string& value) const {
  return exporter_.writer_of(value);
}

std::string NodeWriter::constant(Array array) {
  const ElementType type = element_of(array.dtype());
  return constant(std::move(array), type);
}
std::string NodeWriter::constant(Array array, ElementType type) {
  return exporter_.constant(std::move(array), type);
}
std::string NodeWriter::initializer(const std::string& name, ElementType type, Array array) {
  return exporter_.initializer(name, type, std::move(array));
}

std::string NodeWriter::ints(const Integers& values) {
  return constant(Array::from(values, {static_cast<std::int64_t>(values.size())}));
}

namespace {

template <class T>
Array scalar_array(double value) {
  return Array::from(std::vector<T>{static_cast<T>(value)}, {});
}

/// Integers of 64 bits keep what a double cannot hold at the ends of their range.
std::int64_t to_int64(double value) {
  constexpr double most = 9223372036854775808.0;
  if (value >= most) return std::numeric_limits<std::int64_t>::max();
  if (value < -most) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(value);
}

}  // namespace

std::string NodeWriter::scalar(double value, DType dtype) {
  switch (dtype) {
    case DType::float32:
      return constant(scalar_array<float>(value));
    case DType::float64:
      return constant(scalar_array<double>(value));
    case DType::int64:
      return constant(Array::from(std::vector<std::int64_t>{to_int64(value)}, {}));
    case DType::int32:
      return constant(scalar_array<std::int32_t>(value));
    case DType::boolean: {
      Array truth(DType::boolean, {});
      truth.mutable_span<bool>()[0] = value != 0;
      return constant(std::move(truth));
    }
    default:
      return cast(constant(scalar_array<float>(value)), DType::float32, dtype);
  }
}

std::string NodeWriter::write(std::string_view op, const Names& inputs, Attributes attributes) {
  return write_in("", op, inputs, std::move(attributes));
}

Names NodeWriter::write_list(std::string_view op, const Names& inputs, std::size_t count,
                             Attributes attributes) {
  Names results;
  for (std::size_t i = 0; i < count; ++i)
    results.push_back(exporter_.unique(node_.name + "_" + std::string(op)));
  exporter_.add(node_, op, inputs, results, std::move(attributes));
  return results;
}

std::string NodeWriter::write_in(std::string_view domain, std::string_view op, const Names& inputs,
                                 Attributes attributes) {
  const std::string result = exporter_.unique(node_.name + "_" + std::string(op));
  exporter_.add(node_, op, inputs, {result}, std::move(attributes), domain);
  return result;
}

std::string NodeWriter::cast(const std::string& value, DType from, DType to) {
  if (from == to) return value;
  return write("Cast", {value}, {attribute("to", static_cast<std::int64_t>(element_of(to)))});
}

std::string NodeWriter::shape_part(const std::string& value, std::int64_t begin, std::int64_t end) {
  return write("Shape", {value}, {attribute("start", begin), attribute("end", end)});
}

std::string NodeWriter::unsqueezed(const std::string& value, const Integers& axes) {
  return write("Unsqueeze", {value, ints(axes)});
}

std::string NodeWriter::transposed(const std::string& value, std::int64_t rank, std::int64_t a,
                                   std::int64_t b) {
  Integers order(static_cast<std::size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order.at(static_cast<std::size_t>(axis(a, rank))),
            order.at(static_cast<std::size_t>(axis(b, rank))));
  return write("Transpose", {value}, {attribute("perm", order)});
}

void NodeWriter::finish(std::string_view op, const Names& inputs, Attributes attributes) {
  const std::string result = exporter_.unique(node_.name);
  exporter_.add(node_, op, inputs, {result}, std::move(attributes));
  exporter_.define(node_.id, {result});
}

void NodeWriter::finish_list(std::string_view op, const Names& inputs, std::size_t count,
                             Attributes attributes) {
  Names results;
  for (std::size_t i = 0; i < count; ++i)
    results.push_back(exporter_.unique(node_.name + "_" + std::to_string(i)));
  exporter_.add(node_, op, inputs, results, std::move(attributes));
  exporter_.define(node_.id, std::move(results));
}

void NodeWriter::finish_as(const Names& values) { exporter_.define(node_.id, values); }

}  // namespace mase::onnx
