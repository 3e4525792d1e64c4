// SPDX-License-Identifier: Apache-2.0
// The table of arithmetic on sizes.
#include "pt2/export/size_operators.hpp"

#include <algorithm>
#include <iterator>

namespace mase::pt2 {
namespace {

struct SizeRow {
  std::string_view op, target;
};
constexpr SizeRow size_rows[] = {
    {"aten::add.int", "_operator.add"},           {"aten::sub.int", "_operator.sub"},
    {"aten::mul.int", "_operator.mul"},           {"aten::neg.int", "_operator.neg"},
    {"aten::floordiv.int", "_operator.floordiv"}, {"aten::remainder.int", "_operator.mod"},
    {"prim::max.int", "torch.sym_max"},           {"prim::min.int", "torch.sym_min"},
};
constexpr std::string_view size_readers[] = {"aten::size.int", "mase::getitem", "mase::identity"};

}  // namespace

std::string_view size_target(std::string_view op) {
  const auto* row = std::ranges::find(size_rows, op, &SizeRow::op);
  return row == std::end(size_rows) ? std::string_view() : row->target;
}

bool can_vary(std::string_view op) {
  return !size_target(op).empty() || std::ranges::find(size_readers, op) != std::end(size_readers);
}

}  // namespace mase::pt2
