// SPDX-License-Identifier: Apache-2.0
// The numbers of dtypes, which TorchScript text has instead of their names.
#include "torch/run/dtype_numbers.hpp"

#include <c10/core/ScalarType.h>

#include <utility>

#include "base/text.hpp"

namespace mase::libtorch {

std::string with_dtype_numbers(std::string text) {
  const std::pair<const char*, at::ScalarType> names[] = {
      {"torch.float32", at::kFloat}, {"torch.float64", at::kDouble}, {"torch.int32", at::kInt},
      {"torch.int8", at::kChar},     {"torch.int64", at::kLong},     {"torch.bool", at::kBool}};
  for (const auto& [name, type] : names)
    text = replace_all(std::move(text), name, std::to_string(static_cast<int>(type)));
  return text;
}

}  // namespace mase::libtorch
