// SPDX-License-Identifier: Apache-2.0
// Joins the files of rows, and searches them.
#include "onnx/import/rows.hpp"

#include <iterator>
#include <map>
#include <utility>

namespace mase::onnx {
namespace {

using Files = std::vector<Row> (*)();
constexpr Files files[] = {
    attention_rows, broadcast_rows, control_rows, creation_rows, elementwise_rows,  feature_rows,
    finn_rows,      gather_rows,    integer_rows, layer_rows,    linear_model_rows, loop_rows,
    loss_rows,      movement_rows,  norm_rows,    pool_rows,     qdq_rows,          qonnx_rows,
    recurrent_rows, reduction_rows, resize_rows,  sample_rows,   sequence_rows,     shape_rows,
    slice_rows,     softmax_rows,   tree_rows,    type_rows};

using Index = std::multimap<std::pair<std::string_view, std::string_view>, const Row*>;

Index make_index() {
  Index index;
  for (const Row& row : all_rows()) index.emplace(std::pair(row.domain, row.op), &row);
  return index;
}

}  // namespace

const std::vector<Row>& all_rows() {
  static const std::vector<Row> rows = [] {
    std::vector<Row> all;
    for (const Files file : files) {
      std::vector<Row> some = file();
      std::ranges::move(some, std::back_inserter(all));
    }
    return all;
  }();
  return rows;
}

const Row* find_row(std::string_view domain, std::string_view op, std::int64_t opset) {
  static const Index index = make_index();
  const Row* best = nullptr;
  const auto [begin, end] = index.equal_range({domain, op});
  for (auto at = begin; at != end; ++at)
    if (at->second->since <= opset && (!best || at->second->since > best->since)) best = at->second;
  return best;
}

}  // namespace mase::onnx
