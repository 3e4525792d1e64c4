// SPDX-License-Identifier: Apache-2.0
// Exponents that the operands and the weights of a product share.
#pragma once

#include <string>
#include <vector>

#include "hardware/design/building/memory_image.hpp"
#include "hardware/design/modules/products.hpp"
#include "hardware/design/step_table.hpp"

namespace mase::design {

/// Beats of elements as words with the exponents of their blocks: a stream of one lane. `inputs`
/// are the elements, and an exponent for each block.
StreamId with_exponents(StepBuilder& builder, const std::vector<StreamId>& inputs);

/// Gives operands in blocks their exponents, and every `simd` weights the power of two that they
/// share where so few bits of weights save more LUTs than shifting their sum takes.
void set_exponents(Operands& operands, const StepBuilder& builder, const integer::Codes& weights,
                   std::int64_t simd);

/// Words as those of matrix_words of these weights, with their exponents above the elements.
std::vector<std::string> scaled_words(const integer::Codes& weights, const MatrixShape& shape,
                                      std::int64_t simd, std::int64_t pe, int bits,
                                      int exponent_bits);

}  // namespace mase::design
