// SPDX-License-Identifier: Apache-2.0
// How each op is lowered: one row per op, in lists by families. Internal to
// lib/hardware/integer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hardware/integer/lowering/call.hpp"

namespace mase::integer {

using LowerFunction = Operand (*)(const Call& call);

/// What an op does to streams that are codes times a positive factor (Scaled in operand.hpp).
enum class Factors {
  none,        ///< it reads numbers
  of_moves,    ///< as `commutes`: what only moves and chooses keeps a factor
  kept,        ///< f(factor * x) = factor * f(x), where all that it reads has the same factor
  multiplied,  ///< the same for its first operand, and its weight may have factors of its own
  products,    ///< f(a * x, b * y) = a * b * f(x, y), where it reads two streams
};

/// How an op is lowered. `commutes`: it only moves, chooses or clamps values, so that a quantizer
/// of its result may act on its input.
struct LoweringRow {
  std::string_view op;
  LowerFunction lower;
  bool commutes = false;
  Factors factors = Factors::of_moves;
  /// Which calls of the op this row is for, where it has several.
  bool (*when)(const ir::Node& node) = nullptr;
};

/// Whether an op keeps the factor that all of its operands have.
inline bool keeps_factor(const LoweringRow& row) {
  return row.factors == Factors::kept || (row.factors == Factors::of_moves && row.commutes);
}

/// The rows of each family.
std::vector<LoweringRow> matrix_rows();
std::vector<LoweringRow> convolution_rows();
std::vector<LoweringRow> transposed_convolution_rows();
std::vector<LoweringRow> product_rows();
std::vector<LoweringRow> window_rows();
std::vector<LoweringRow> reduction_rows();
std::vector<LoweringRow> softmax_rows();
std::vector<LoweringRow> norm_rows();
std::vector<LoweringRow> clamp_rows();
std::vector<LoweringRow> arithmetic_rows();
std::vector<LoweringRow> shape_rows();
std::vector<LoweringRow> channel_rows();
std::vector<LoweringRow> join_rows();
std::vector<LoweringRow> movement_rows();
std::vector<LoweringRow> pad_rows();
std::vector<LoweringRow> mask_rows();
std::vector<LoweringRow> comparison_rows();
std::vector<LoweringRow> threshold_rows();
std::vector<LoweringRow> embedding_rows();
std::vector<LoweringRow> table_rows();

/// The row of a node, which may be an op of the user's.
const LoweringRow* lowering_of(const ir::Graph& graph, const ir::Node& node);
/// The MASE op of a node, that of the plain operator for an in-place variant.
std::string op_of(const ir::Graph& graph, const ir::Node& node);

}  // namespace mase::integer
