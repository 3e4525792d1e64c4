// SPDX-License-Identifier: Apache-2.0
// Finds in-place twins of operators, and decides when they may be used.
#include "torch/run/in_place.hpp"

#include <ATen/core/Tensor.h>

#include <algorithm>

#include "ir/op_table.hpp"
#include "torch/run/operators.hpp"

namespace mase::libtorch {
namespace {

bool is_fresh_tensor(const c10::Argument& argument) {
  return argument.type()->kind() == c10::TypeKind::TensorType && !argument.alias_info();
}

bool has_same_arguments(const c10::FunctionSchema& one, const c10::FunctionSchema& other) {
  return std::ranges::equal(one.arguments(), other.arguments(), [](const auto& a, const auto& b) {
    return a.name() == b.name() && *a.type() == *b.type();
  });
}

/// The value of the node's first input, which is the operator's first argument.
const ir::ValueInfo* first_input(const ir::Graph& graph, const ir::Node& node,
                                 const std::string& argument) {
  const ir::Value* value = node.find(argument);
  return value && value->is_node() ? &graph.node(value->node()).info : nullptr;
}

bool is_like(const at::Tensor& tensor, const at::Tensor& first) {
  return !tensor.defined() ||
         (tensor.scalar_type() == first.scalar_type() && tensor.sizes() == first.sizes() &&
          tensor.strides() == first.strides());
}

/// Whether the result keeps the type; complex numbers make it complex.
bool keeps_type(const c10::IValue& argument, const at::Tensor& first) {
  if (argument.isTensor()) return is_like(argument.toTensor(), first);
  return !argument.isComplexDouble() && !argument.isList();
}

}  // namespace

std::optional<c10::OperatorHandle> in_place_twin(const ir::Graph& graph, const ir::Node& node,
                                                 const c10::FunctionSchema& schema) {
  const auto& arguments = schema.arguments();
  if (arguments.empty() || schema.returns().size() != 1 || !is_fresh_tensor(arguments.front()) ||
      !is_fresh_tensor(schema.returns().front()))
    return std::nullopt;
  const ir::ValueInfo* input = first_input(graph, node, arguments.front().name());
  if (!input || !input->is_tensor() || !(*input == node.info)) return std::nullopt;
  const std::string overload = schema.overload_name();
  const auto twin = find_operator(schema.name() + "_" + (overload.empty() ? "" : "." + overload));
  if (!twin || !has_same_arguments(schema, twin->schema())) return std::nullopt;
  return twin;
}

bool is_exclusive(const at::Tensor& tensor) {
  return tensor.defined() && tensor.is_floating_point() && tensor.is_non_overlapping_and_dense() &&
         tensor.use_count() == 1 && tensor.has_storage() && tensor.storage().use_count() == 1;
}

bool may_overwrite(const std::vector<c10::IValue>& arguments) {
  if (!arguments.front().isTensor()) return false;
  const at::Tensor& first = arguments.front().toTensor();
  return is_exclusive(first) &&
         std::all_of(arguments.begin() + 1, arguments.end(),
                     [&](const c10::IValue& argument) { return keeps_type(argument, first); });
}

}  // namespace mase::libtorch
