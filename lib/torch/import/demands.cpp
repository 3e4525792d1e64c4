// SPDX-License-Identifier: Apache-2.0
// The table of demands, with a row per operator.
#include "torch/import/demands.hpp"

#include <ATen/core/Tensor.h>

#include "base/array.hpp"
#include "ir/op_table.hpp"
#include "torch/run/tensors.hpp"

namespace mase::libtorch {
namespace {

using Arguments = std::vector<c10::IValue>;

bool are_tensors(const Arguments& arguments) {
  return arguments.size() > 1 && arguments[0].isTensor() && arguments[1].isTensor();
}

std::string type_of(const at::Tensor& tensor) {
  return std::string(dtype_name(dtype_of(tensor.scalar_type(), "an input")));
}

std::string given(const at::Tensor& tensor) {
  return ", given " + type_of(tensor) + shape_text(tensor.sizes().vec());
}

/// The NumPy type for a tensor. NumPy has no bfloat16.
std::string numpy_name(const at::Tensor& tensor) {
  return (tensor.scalar_type() == at::kBFloat16 ? "ml_dtypes." : "numpy.") + type_of(tensor);
}

/// The demand that data and weight of a layer have the same type.
std::string other_type(const at::Tensor& data, const at::Tensor& weight) {
  if (data.scalar_type() == weight.scalar_type()) return "";
  return "takes " + type_of(weight) + ", the type of its weight" + given(data) +
         "; save it with x.astype(" + numpy_name(weight) + ")";
}

/// embedding(weight, indices)
std::string of_embedding(const Arguments& arguments) {
  const at::Tensor weight = arguments[0].toTensor(), ids = arguments[1].toTensor();
  if (ids.scalar_type() != at::kLong && ids.scalar_type() != at::kInt)
    return "takes ids of int64 or int32" + given(ids) + "; save them with x.astype(numpy.int64)";
  return "takes ids from 0 to " + std::to_string(weight.size(0) - 1) + ", given " +
         std::to_string(ids.min().item().toLong()) + " to " +
         std::to_string(ids.max().item().toLong());
}

/// linear(data, weight)
std::string of_linear(const Arguments& arguments) {
  const at::Tensor data = arguments[0].toTensor(), weight = arguments[1].toTensor();
  if (std::string type = other_type(data, weight); !type.empty()) return type;
  return "takes " + std::to_string(weight.size(-1)) + " features in the last dimension" +
         given(data);
}

/// convNd(data, weight, bias, stride, padding, dilation, groups)
std::string of_convolution(const Arguments& arguments) {
  const at::Tensor data = arguments[0].toTensor(), weight = arguments[1].toTensor();
  if (std::string type = other_type(data, weight); !type.empty()) return type;
  const std::int64_t groups = arguments.back().isInt() ? arguments.back().toInt() : 1;
  return "takes [batch, " + std::to_string(weight.size(1) * groups) + ", " +
         (weight.dim() == 3   ? "length"
          : weight.dim() == 4 ? "height, width"
                              : "depth, height, width") +
         "]" + given(data);
}

struct DemandRow {
  std::string_view op;
  std::string (*unmet)(const Arguments&);
};

constexpr DemandRow demand_rows[] = {
    {"aten::embedding", of_embedding}, {"aten::linear", of_linear},
    {"aten::conv1d", of_convolution},  {"aten::conv2d", of_convolution},
    {"aten::conv3d", of_convolution},
};

}  // namespace

std::string unmet_demand(const std::string& op, const Arguments& arguments) {
  if (!are_tensors(arguments)) return "";
  for (const DemandRow& row : demand_rows)
    if (row.op == ir::base_op(op)) return row.unmet(arguments);
  return "";
}

}  // namespace mase::libtorch
