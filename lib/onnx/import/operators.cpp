// SPDX-License-Identifier: Apache-2.0
// Joins the rows of each operator.
#include "onnx/operators.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "onnx/import/rows.hpp"

namespace mase::onnx {

std::vector<Operator> operators() {
  std::map<std::pair<std::string_view, std::string_view>, Operator> found;
  for (const Row& row : all_rows()) {
    Operator& one = found[{row.domain, row.op}];
    one.name = row.op;
    one.domain = row.domain;
    one.opsets.push_back(row.since);
    one.refusal = row.refusal;
  }
  std::vector<Operator> all;
  for (auto& [key, one] : found) {
    std::ranges::sort(one.opsets);
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace mase::onnx
