// SPDX-License-Identifier: Apache-2.0
// The table of ONNX operators: one row per operator and range of opsets.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/import/call.hpp"

namespace mase::onnx {

/// How an operator is imported, from opset `since` on, up to the next row of the same operator.
struct Row {
  using Host = std::function<std::optional<HostTensor>(Call&)>;
  using Fold = std::function<std::optional<Array>(Call&)>;
  std::string_view op;
  std::int64_t since = 1;
  /// Writes the nodes, and gives the call's results.
  std::function<void(Call&)> import;
  /// The result when all inputs are host tensors (operand.hpp); nullopt if it must be a node after
  /// all. Operators without it always become nodes.
  Host host = {};
  std::string_view domain = {};
  std::string_view refusal = {};  ///< why there is no counterpart, instead of `import`
  /// The result when all inputs are constants of any size; nullopt if it must be a node.
  Fold fold = {};
};

/// The row for a node; nullptr when no row has its operator in this opset.
const Row* find_row(std::string_view domain, std::string_view op, std::int64_t opset);
/// All rows, in the order of the files that have them.
const std::vector<Row>& all_rows();

/// The newest opset of ONNX's own domain whose operators the rows know.
inline constexpr std::int64_t newest_opset = 28;

/// Adds an operator that broadcasts. Where it commutes, a number on the left goes to the right.
void broadcast(Call& call, std::string_view aten, bool commutes);

/// The names that the domain of QONNX has had. Older files do not name its opset.
inline constexpr std::array<std::string_view, 3> qonnx_domains{
    "qonnx.custom_op.general", "finn.custom_op.general", "onnx.brevitas"};

// A file of rows each.
std::vector<Row> attention_rows();
std::vector<Row> broadcast_rows();
std::vector<Row> control_rows();
std::vector<Row> creation_rows();
std::vector<Row> elementwise_rows();
std::vector<Row> feature_rows();
std::vector<Row> finn_rows();
std::vector<Row> gather_rows();
std::vector<Row> layer_rows();
std::vector<Row> linear_model_rows();
std::vector<Row> loop_rows();
std::vector<Row> loss_rows();
std::vector<Row> movement_rows();
std::vector<Row> norm_rows();
std::vector<Row> pool_rows();
std::vector<Row> recurrent_rows();
std::vector<Row> reduction_rows();
std::vector<Row> resize_rows();
std::vector<Row> sample_rows();
std::vector<Row> sequence_rows();
std::vector<Row> shape_rows();
std::vector<Row> slice_rows();
std::vector<Row> softmax_rows();
std::vector<Row> tree_rows();
std::vector<Row> type_rows();
std::vector<Row> qonnx_rows();
std::vector<Row> qdq_rows();
std::vector<Row> integer_rows();

}  // namespace mase::onnx
