// SPDX-License-Identifier: Apache-2.0
// Rules of functions of elements: their dtypes, and the broadcast of several operands.
#include <initializer_list>

#include "ir/inference/dtypes.hpp"
#include "ir/inference/rules.hpp"

namespace mase::ir {
namespace {

/// The operands that are given, and what they are together.
struct Operands {
  std::vector<ValueInfo> infos;
  Shape shape;
  bool on_host = true;  ///< no operand is a tensor
};

Operands operands_of(const Call& call, std::initializer_list<const char*> names) {
  Operands operands;
  std::vector<Shape> shapes;
  for (const char* name : names) {
    const auto info = call.find(name);
    if (!info) continue;
    operands.infos.push_back(*info);
    operands.on_host = operands.on_host && !info->is_tensor();
    shapes.push_back(info->shape);
  }
  call.require(!operands.infos.empty(), "it has no operand");
  operands.shape = call.broadcast(shapes);
  return operands;
}

Operands pair_of(const Call& call) {
  return operands_of(call, {"self", "other", "exponent", "a", "b", "x", "y"});
}

/// The kind of a result of numbers on the host: an integer unless one of them is a float.
ValueInfo number_info(const std::vector<ValueInfo>& operands) {
  for (const ValueInfo& operand : operands)
    if (operand.kind == InfoKind::number) return operand;
  return host_info(InfoKind::integer);
}

/// Lists one after the other, by `+`.
ValueInfo joined_lists(const std::vector<ValueInfo>& lists) {
  ValueInfo joined = lists.front();
  for (std::size_t i = 1; i < lists.size(); ++i)
    joined.elements.insert(joined.elements.end(), lists[i].elements.begin(),
                           lists[i].elements.end());
  return joined;
}

Inferred common(const Call& call) {
  const Operands operands = pair_of(call);
  if (operands.infos.front().kind == InfoKind::list) return joined_lists(operands.infos);
  if (operands.on_host) return number_info(operands.infos);
  return ValueInfo::tensor(call.promoted(operands.infos), operands.shape);
}

Inferred quotient_of_elements(const Call& call) {
  const Operands operands = pair_of(call);
  if (operands.on_host) return host_info(InfoKind::number);
  const DType dtype = call.promoted(operands.infos);
  const bool whole = call.has("rounding_mode");
  return ValueInfo::tensor(whole ? dtype : as_float_type(dtype), operands.shape);
}

/// Powers on the host are floats, except by the operator for integers.
Inferred power(const Call& call) {
  if (pair_of(call).on_host && !call.node().op.ends_with(".int_to_int"))
    return host_info(InfoKind::number);
  return common(call);
}

Inferred truth_values(const Call& call) {
  const Operands operands = pair_of(call);
  if (operands.on_host) return host_info(InfoKind::boolean);
  return ValueInfo::tensor(DType::boolean, operands.shape);
}

Inferred chosen(const Call& call) {
  const Operands operands = operands_of(call, {"self", "other"});
  return ValueInfo::tensor(call.promoted(operands.infos),
                           call.broadcast({call.tensor("condition").shape, operands.shape}));
}

Inferred limited(const Call& call) {
  const Operands operands = operands_of(call, {"self", "min", "max"});
  return ValueInfo::tensor(call.promoted(operands.infos), operands.shape);
}

Inferred masked(const Call& call) {
  const ValueInfo self = call.tensor("self");
  return ValueInfo::tensor(self.dtype, call.broadcast({self.shape, call.tensor("mask").shape}));
}

/// On the host `-x` and `abs(x)` keep the kind of the number; a truth value becomes an integer.
Inferred same_dtype(const Call& call) {
  const Operands operands = operands_of(call, {"self", "input", "a"});
  return operands.on_host ? number_info(operands.infos) : operands.infos.front();
}

Inferred whole_number(const Call& call) {
  const Operands operands = operands_of(call, {"self", "a"});
  return operands.on_host ? host_info(InfoKind::integer) : operands.infos.front();
}

Inferred truth_of_each(const Call& call) {
  return ValueInfo::tensor(DType::boolean, call.input().shape);
}

Inferred fraction(const Call& call) {
  const Operands operands = operands_of(call, {"self", "input", "a"});
  if (operands.on_host) return host_info(InfoKind::number);
  return ValueInfo::tensor(as_float_type(operands.infos.front().dtype), operands.shape);
}

Inferred fraction_of_pair(const Call& call) {
  const Operands operands = pair_of(call);
  return ValueInfo::tensor(as_float_type(call.promoted(operands.infos)), operands.shape);
}

/// The input plus a product or quotient of two tensors, or a value between it and another.
Inferred of_three(const Call& call) {
  const Operands operands = operands_of(call, {"self", "tensor1", "tensor2", "end", "weight"});
  return ValueInfo::tensor(call.promoted(operands.infos), operands.shape);
}

/// The first half of a dimension times the sigmoid of the second.
Inferred gated(const Call& call) {
  ValueInfo self = call.input();
  const std::size_t dim = call.dimension("dim", self.shape.size(), -1);
  call.require(!self.shape.empty() && self.shape[dim] % 2 == 0, "the dimension has no halves");
  self.shape[dim] /= 2;
  return self;
}

/// x * x is computed as x to the power of the integer 2.
Inferred squared(const Call& call) {
  const ValueInfo self = call.input();
  return ValueInfo::tensor(self.dtype == DType::boolean ? DType::int64 : self.dtype, self.shape);
}

Inferred normalized_exponentials(const Call& call) {
  const ValueInfo self = call.input();
  call.dimension("dim", self.shape.size(), -1);
  return ValueInfo::tensor(call.dtype().value_or(self.dtype), self.shape);
}

}  // namespace

std::vector<InferenceRule> elementwise_rules() {
  return {
      {OpFamily::elementwise, common},
      {"aten::div", quotient_of_elements},
      {"aten::pow", power},
      {"aten::greater", truth_values},
      {"aten::gt", truth_values},
      {"aten::less", truth_values},
      {"aten::lt", truth_values},
      {"aten::le", truth_values},
      {"aten::less_equal", truth_values},
      {"aten::eq", truth_values},
      {"aten::ne", truth_values},
      {"aten::ge", truth_values},
      {"aten::logical_and", truth_values},
      {"aten::logical_or", truth_values},
      {"aten::where", chosen},
      {"aten::masked_fill", masked},
      {"aten::fill", same_as_input},
      {"aten::copy", same_as_input},
      {"aten::zero", same_as_input},
      {"aten::clamp", limited},
      {"aten::clamp_min", limited},
      {"aten::clamp_max", limited},
      {OpFamily::unary, fraction},
      {"aten::relu", same_dtype},
      {"aten::relu6", same_dtype},
      {"aten::hardtanh", same_dtype},
      {"aten::sign", same_dtype},
      {"aten::neg", same_dtype},
      {"aten::abs", same_dtype},
      {"aten::bitwise_not", same_dtype},
      {"aten::floor", whole_number},
      {"aten::ceil", whole_number},
      {"aten::round", whole_number},
      {"aten::square", squared},
      {"aten::logical_not", truth_of_each},
      {OpFamily::channel_activation, same_as_input},
      {"aten::rrelu", same_as_input},
      {"aten::threshold", same_as_input},
      {"aten::glu", gated},
      {"aten::trunc", whole_number},
      {"aten::frac", same_as_input},
      {"aten::negative", same_dtype},
      {"aten::absolute", same_dtype},
      {"aten::positive", same_dtype},
      {"aten::isnan", truth_of_each},
      {"aten::isinf", truth_of_each},
      {"aten::isfinite", truth_of_each},
      {"aten::acos", fraction},
      {"aten::acosh", fraction},
      {"aten::asin", fraction},
      {"aten::asinh", fraction},
      {"aten::atan", fraction},
      {"aten::atanh", fraction},
      {"aten::log2", fraction},
      {"aten::log10", fraction},
      {"aten::log1p", fraction},
      {"aten::exp2", fraction},
      {"aten::expm1", fraction},
      {"aten::erfc", fraction},
      {"aten::lgamma", fraction},
      {"aten::logit", fraction},
      {"aten::angle", fraction},
      {"aten::deg2rad", fraction},
      {"aten::rad2deg", fraction},
      {"aten::digamma", fraction},
      {"aten::erfinv", fraction},
      {"aten::i0", fraction},
      {"aten::sinc", fraction},
      {"aten::sgn", same_dtype},
      {"aten::nan_to_num", same_dtype},
      {"aten::signbit", truth_of_each},
      {"aten::subtract", common},
      {"aten::multiply", common},
      {"aten::divide", quotient_of_elements},
      {"aten::true_divide", quotient_of_elements},
      {"aten::fmod", common},
      {"aten::fmax", common},
      {"aten::fmin", common},
      {"aten::bitwise_xor", common},
      {"aten::__xor__", common},
      {"aten::logical_xor", truth_values},
      {"aten::not_equal", truth_values},
      {"aten::greater_equal", truth_values},
      {"aten::atan2", fraction_of_pair},
      {"aten::xlogy", fraction_of_pair},
      {"aten::clip", limited},
      {"aten::addcmul", of_three},
      {"aten::addcdiv", of_three},
      {"aten::lerp", of_three},
      {OpFamily::softmax, normalized_exponentials},
  };
}

}  // namespace mase::ir
