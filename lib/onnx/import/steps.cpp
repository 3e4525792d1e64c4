// SPDX-License-Identifier: Apache-2.0
// Emits the nodes of common steps.
#include "onnx/import/steps.hpp"

#include <string>

#include "base/error.hpp"
#include "onnx/import/importer.hpp"

namespace mase::onnx {

std::int64_t number_of(DType dtype) {
  switch (dtype) {  // c10/core/ScalarType.h
    case DType::uint8:
      return 0;
    case DType::int8:
      return 1;
    case DType::int16:
      return 2;
    case DType::int32:
      return 3;
    case DType::int64:
      return 4;
    case DType::float16:
      return 5;
    case DType::float32:
      return 6;
    case DType::float64:
      return 7;
    case DType::boolean:
      return 11;
    case DType::bfloat16:
      return 15;
    case DType::uint16:
      return 27;
    case DType::uint32:
      return 28;
  }
  MASE_CHECK(false, "a dtype without a number");
  return 0;
}

ir::NodeId applied(Call& call, std::string_view aten, ir::NodeId node) {
  return call.emit(aten, {{"self", ref(node)}});
}

ir::NodeId combined(Call& call, std::string_view aten, ir::NodeId self, const ir::Value& other) {
  const bool tensor = other.is_node() && call.info(other.node()).is_tensor();
  return call.emit(std::string(aten) + (tensor ? ".Tensor" : ".Scalar"),
                   {{"self", ref(self)}, {"other", other}});
}

ir::NodeId converted(Call& call, ir::NodeId node, DType dtype) {
  if (call.info(node).dtype == dtype) return node;
  return call.emit("aten::to.dtype", {{"self", ref(node)}, {"dtype", number_of(dtype)}});
}

ir::NodeId reshaped(Call& call, ir::NodeId node, std::vector<ir::Value> sizes) {
  return call.emit("aten::reshape",
                   {{"self", ref(node)}, {"shape", ir::Value::list(std::move(sizes))}});
}

ir::NodeId permuted(Call& call, ir::NodeId node, const std::vector<std::int64_t>& dims) {
  return call.emit("aten::permute", {{"self", ref(node)}, {"dims", list_of(dims)}});
}

ir::NodeId item_of(Call& call, ir::NodeId container, std::int64_t index) {
  return call.emit("mase::getitem", {{"value", ref(container)}, {"index", index}});
}

ir::NodeId constant_node(Call& call, Array value) {
  Operand operand{.constant = Constant{std::move(value), "_tensor_constant", {}, false}};
  return call.importer().node_of(operand, "a constant");
}

std::vector<ir::Value> sizes_of(Call& call, ir::NodeId node) {
  std::vector<ir::Value> sizes;
  const auto rank = static_cast<std::int64_t>(call.info(node).shape.size());
  for (std::int64_t dim = 0; dim < rank; ++dim) sizes.push_back(call.size(node, dim));
  return sizes;
}

ir::Value product(Call& call, const ir::Value& a, const ir::Value& b) {
  if (!a.is_node() && !b.is_node()) return a.as_int() * b.as_int();
  return ref(call.emit("aten::mul.int", {{"a", a}, {"b", b}}));
}

ir::Value quotient(Call& call, const ir::Value& a, std::int64_t b) {
  if (!a.is_node()) return a.as_int() / b;
  return ref(call.emit("aten::floordiv.int", {{"a", a}, {"b", b}}));
}

std::int64_t fixed_size(Call& call, ir::NodeId node, std::int64_t dim) {
  const auto size = call.importer().worlds().fixed_size(node, static_cast<std::size_t>(dim));
  if (!size) call.refuse("dimension " + std::to_string(dim) + " of its operand must not vary");
  return *size;
}

}  // namespace mase::onnx
