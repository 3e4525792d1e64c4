// SPDX-License-Identifier: Apache-2.0
// Rules of tensors that are made from numbers alone.
#include <cmath>

#include "ir/inference/dtypes.hpp"
#include "ir/inference/rules.hpp"

namespace mase::ir {
namespace {

/// The dtype of a constant: float32, int64 or bool.
DType constant_dtype(const Call& call, const ValueInfo& constant) {
  return call.promoted({constant});
}

Inferred numbers_of_shape(const Call& call) {
  return ValueInfo::tensor(call.dtype().value_or(DType::float32), call.integers("size"));
}

Inferred constant_of_shape(const Call& call) {
  const auto constant = call.find("fill_value");
  call.require(constant.has_value(), "it has no value");
  const auto dtype = call.dtype();
  return ValueInfo::tensor(dtype ? *dtype : constant_dtype(call, *constant), call.integers("size"));
}

/// In a shape that is given, of the input's dtype unless one is given.
Inferred new_tensor(const Call& call) {
  return ValueInfo::tensor(call.dtype().value_or(call.tensor("self").dtype), call.integers("size"));
}

/// The number of steps from one number to another.
std::int64_t steps(const Call& call) {
  const double first = call.number("start", 0), last = call.number("end", 0);
  const double step = call.number("step", 1);
  call.require(step != 0 && std::isfinite((last - first) / step),
               "the step does not reach the end");
  constexpr double most = 9e15;  // which a double counts exactly
  const double count = (last - first) / step;
  call.require(count > -1 && count < most, "the step does not reach the end");
  const bool closed = call.op() == "aten::range";
  return static_cast<std::int64_t>(closed ? std::floor(count) + 1 : std::ceil(count));
}

Inferred range_of_numbers(const Call& call) {
  bool whole = call.op() == "aten::arange";
  for (const char* name : {"start", "end", "step"})
    if (const auto given = call.find(name)) whole = whole && given->kind != InfoKind::number;
  return ValueInfo::tensor(call.dtype().value_or(whole ? DType::int64 : DType::float32),
                           {steps(call)});
}

Inferred spaced_numbers(const Call& call) {
  return ValueInfo::tensor(call.dtype().value_or(DType::float32), {call.integer("steps", 100)});
}

Inferred unit_matrix(const Call& call) {
  const std::int64_t rows = call.integer("n", 0);
  return ValueInfo::tensor(call.dtype().value_or(DType::float32), {rows, call.integer("m", rows)});
}

Inferred tensor_of_number(const Call& call) {
  return ValueInfo::tensor(call.dtype().value_or(DType::float32), {});
}

/// Nested lists of numbers.
Inferred tensor_of_numbers(const Call& call) {
  const auto data = call.find("data");
  call.require(data.has_value(), "it has no data");
  Shape shape;
  const ValueInfo* item = &*data;
  for (; item->kind == InfoKind::list || item->kind == InfoKind::tuple;
       item = &item->elements.front()) {
    shape.push_back(static_cast<std::int64_t>(item->elements.size()));
    if (item->elements.empty())
      return ValueInfo::tensor(call.dtype().value_or(DType::float32), shape);
  }
  if (item->is_tensor()) shape = joined(shape, item->shape);
  const auto dtype = call.dtype();
  return ValueInfo::tensor(dtype ? *dtype : constant_dtype(call, *item), shape);
}

}  // namespace

std::vector<InferenceRule> creation_rules() {
  return {
      {"aten::zeros", numbers_of_shape},   {"aten::ones", numbers_of_shape},
      {"aten::full", constant_of_shape},   {"aten::new_zeros", new_tensor},
      {"aten::new_ones", new_tensor},      {"aten::new_full", new_tensor},
      {"aten::arange", range_of_numbers},  {"aten::range", range_of_numbers},
      {"aten::linspace", spaced_numbers},  {"aten::eye", unit_matrix},
      {"aten::tensor", tensor_of_numbers}, {"aten::scalar_tensor", tensor_of_number},
  };
}

}  // namespace mase::ir
