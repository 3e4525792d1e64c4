// SPDX-License-Identifier: Apache-2.0
// Rules of reductions along dimensions, of running results and differences.
#include <algorithm>

#include "ir/inference/dtypes.hpp"
#include "ir/inference/rules.hpp"

namespace mase::ir {
namespace {

/// The shape without the named dimensions, or with 1 in their places.
Shape reduced_shape(const Call& call, const Shape& shape) {
  const std::vector<bool> gone = call.dimensions("dim", shape.size());
  const bool keeps = call.truth("keepdim", false);
  Shape reduced;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (!gone[d]) reduced.push_back(shape[d]);
    if (gone[d] && keeps) reduced.push_back(1);
  }
  return reduced;
}

Inferred same_dtype_reduced(const Call& call) {
  const ValueInfo self = call.input();
  return ValueInfo::tensor(call.dtype().value_or(self.dtype), reduced_shape(call, self.shape));
}

Inferred sum_of_elements(const Call& call) {
  const ValueInfo self = call.input();
  return ValueInfo::tensor(call.dtype().value_or(as_sum_type(self.dtype)),
                           reduced_shape(call, self.shape));
}

/// Two tensors are compared elementwise. Along a dimension the values come with their indices.
Inferred extreme_values(const Call& call) {
  const ValueInfo self = call.input();
  if (const auto other = call.find("other"))
    return ValueInfo::tensor(call.promoted({self, *other}),
                             call.broadcast({self.shape, other->shape}));
  const Shape shape = reduced_shape(call, self.shape);
  const ValueInfo values = ValueInfo::tensor(self.dtype, shape);
  if (!call.value("dim")) return values;
  return tuple_info({values, ValueInfo::tensor(DType::int64, shape)});
}

/// Along a dimension, which is the last one if the operator has no other default, the values come
/// with their places.
Inferred chosen_values(const Call& call) {
  ValueInfo self = call.input();
  const bool always = call.op() != "aten::median" && call.op() != "aten::nanmedian";
  if (!always && !call.value("dim")) return ValueInfo::tensor(self.dtype, {});
  if (self.shape.empty()) return tuple_info({self, ValueInfo::tensor(DType::int64, {})});
  const auto dim = call.dimension("dim", self.shape.size(), -1);
  if (call.truth("keepdim", false))
    self.shape[dim] = 1;
  else
    self.shape.erase(self.shape.begin() + static_cast<std::ptrdiff_t>(dim));
  return tuple_info({self, ValueInfo::tensor(DType::int64, self.shape)});
}

/// One result, or one for each of several fractions, which are the first dimension.
Inferred quantiles(const Call& call) {
  const ValueInfo self = call.input();
  Shape shape = reduced_shape(call, self.shape);
  const auto q = call.find("q");
  if (q && q->is_tensor() && !q->shape.empty()) shape.insert(shape.begin(), q->shape[0]);
  return ValueInfo::tensor(self.dtype, shape);
}

Inferred place_of_extremum(const Call& call) {
  return ValueInfo::tensor(DType::int64, reduced_shape(call, call.input().shape));
}

Inferred two_reductions(const Call& call) {
  const ValueInfo reduced = *same_dtype_reduced(call);
  return tuple_info({reduced, reduced});
}

Inferred number_of_several(const Call& call) {
  return ValueInfo::tensor(DType::int64, reduced_shape(call, call.input().shape));
}

/// The values with their places.
Inferred running_extreme(const Call& call) {
  const ValueInfo self = call.input();
  call.dimension("dim", self.shape.size(), 0);
  return tuple_info({self, ValueInfo::tensor(DType::int64, self.shape)});
}

Inferred truth_of_several(const Call& call) {
  const ValueInfo self = call.input();
  const DType dtype = self.dtype == DType::uint8 ? DType::uint8 : DType::boolean;
  return ValueInfo::tensor(dtype, reduced_shape(call, self.shape));
}

Inferred fraction_of_several(const Call& call) {
  const ValueInfo self = call.input();
  return ValueInfo::tensor(call.dtype().value_or(as_float_type(self.dtype)),
                           reduced_shape(call, self.shape));
}

Inferred running_sum(const Call& call) {
  const ValueInfo self = call.input();
  call.dimension("dim", self.shape.size(), 0);
  return ValueInfo::tensor(call.dtype().value_or(as_sum_type(self.dtype)), self.shape);
}

Inferred differences(const Call& call) {
  ValueInfo self = call.input();
  const std::size_t dim = call.dimension("dim", self.shape.size(), -1);
  call.require(!self.shape.empty(), "it takes a tensor with dimensions");
  std::vector<ValueInfo> operands{self};
  for (const char* name : {"prepend", "append"})
    if (const auto more = call.find(name)) {
      call.require(more->shape.size() == self.shape.size(), "the ranks differ");
      self.shape[dim] = call.sum(self.shape[dim], more->shape[dim]);
      operands.push_back(*more);
    }
  const std::int64_t n = call.integer("n", 1);
  call.require(n >= 0, "it takes differences a negative number of times");
  self.shape[dim] = std::max<std::int64_t>(self.shape[dim] - n, 0);
  return ValueInfo::tensor(call.promoted(operands), self.shape);
}

}  // namespace

std::vector<InferenceRule> reduction_rules() {
  return {
      {OpFamily::reduction, same_dtype_reduced},
      {"aten::sum", sum_of_elements},
      {"aten::prod", sum_of_elements},
      {"aten::max", extreme_values},
      {"aten::min", extreme_values},
      {"aten::std_mean", two_reductions},
      {"aten::var_mean", two_reductions},
      {"aten::nansum", sum_of_elements},
      {"aten::count_nonzero", number_of_several},
      {"aten::linalg_vector_norm", same_dtype_reduced},
      {"aten::norm", same_dtype_reduced},
      {"aten::linalg_norm", same_dtype_reduced},
      {"aten::nanmean", same_dtype_reduced},
      {"aten::median", chosen_values},
      {"aten::nanmedian", chosen_values},
      {"aten::mode", chosen_values},
      {"aten::kthvalue", chosen_values},
      {"aten::quantile", quantiles},
      {"aten::logcumsumexp", running_sum},
      {"aten::cummax", running_extreme},
      {"aten::cummin", running_extreme},
      {"aten::all", truth_of_several},
      {"aten::any", truth_of_several},
      {"aten::logsumexp", fraction_of_several},
      {"aten::cumprod", running_sum},
      {OpFamily::arg_reduction, place_of_extremum},
      {OpFamily::scan, running_sum},
      {OpFamily::difference, differences},
  };
}

}  // namespace mase::ir
