// SPDX-License-Identifier: Apache-2.0
// The operators of ONNX that the importer knows, for lists.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace mase::onnx {

/// An operator: what it is imported from on, or why it is not.
struct Operator {
  std::string_view name, domain;     ///< "Relu"; "" is ONNX's own domain
  std::vector<std::int64_t> opsets;  ///< the first opset of each of its meanings, ascending
  std::string_view refusal;          ///< why the graph has no counterpart; "" if it has one
};

/// Operators by domain and name. Others are refused, too.
std::vector<Operator> operators();

}  // namespace mase::onnx
