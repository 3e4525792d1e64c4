// SPDX-License-Identifier: Apache-2.0
// Products with weights, and scaling and shifting by constants.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "hardware/integer/lowering/call.hpp"

namespace mase::integer {

/// Weights and bias of a product with `outputs` rows, the bias aligned.
struct Matrix {
  Constants weight;
  Summands bias;
  std::optional<Constants> shift = std::nullopt;  ///< the bias behind scales of the weight
  std::vector<ExactLine> lines = {};              ///< of the sums, where they are codes

  /// The sums of rows with so many weights.
  Interval sums(std::int64_t terms, const Interval& input) const;
};

/// Refuses sums of so many products that could pass 2^126, so that their range is computed exactly.
void check_sum(const Interval& input, const Interval& weight, std::int64_t terms);
/// The layout of products with every row of `input`: the rows where they were, outputs in order.
Layout product_layout(const Layout& input, const Rows& rows, std::int64_t outputs);
/// The rows of a stream, which is brought into torch's order first where they are torn apart.
Rows rows_for(const Call& call, StreamView& x);
/// Refuses a weight that is computed, and constants without a format.
void check_weights(const Call& call);
/// A weight, torch's dimension 0 its outputs, with the node's bias where it has one: the argument
/// of that name.
Matrix matrix_of(const Call& call, Constants weight, int input_frac,
                 std::string_view argument = "bias");
/// The accumulator of so many products for each output. Refused where it could pass 126 bits.
Accumulator accumulator_of(const Matrix& matrix, std::int64_t terms, const FixedType& input);
/// Appends a product with weights and, where its channels have fraction bits of their own, the step
/// that shifts them to those of the finest.
StreamView emit_product(const Call& call, Operation product, const StreamView& x, Matrix& matrix,
                        std::int64_t terms, Layout layout);
/// Every row of a stream times a weight [outputs][inputs], plus the node's bias as above.
StreamView linear_product(const Call& call, StreamView x, Constants weight,
                          std::string_view bias = "bias");

/// y = (x * scale + shift) / divisor with constants for all, for each channel or for each element
/// of the stream; shift may be absent.
StreamView scale_and_shift(const Call& call, const StreamView& x, Constants scale,
                           std::optional<Constants> shift, std::int64_t divisor = 1);
/// The step that does so, without requantisation, and its accumulator.
std::pair<ScaleShift, Accumulator> scale_step(const Call& call, const StreamView& x,
                                              Constants scale, std::optional<Constants> shift);

}  // namespace mase::integer
