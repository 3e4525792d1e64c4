// SPDX-License-Identifier: Apache-2.0
// What the modules of linear, convolutions and products of streams have in common when steps
// become hardware: the matrix of a step and the parameters that follow from it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hardware/design/building/memory_image.hpp"
#include "hardware/design/modules/multiply_accumulate.hpp"
#include "hardware/design/step_table.hpp"

namespace mase::design {

/// The matrix of constants that a step multiplies by.
struct StepMatrix {
  MatrixShape shape;
  integer::FixedType weight_type;
  const integer::Codes& weight;
  const std::optional<integer::FloatCode>& weight_code;
  const std::vector<Wide>& bias;
  int bias_width;  ///< of all that may come; 0: of these
};

/// Internal error for a step without one.
StepMatrix matrix_of(const Step& step);

/// What the accumulators of a step start from.
struct Start {
  Wide half;
  std::vector<Wide> biases;  ///< with the half; empty without biases
  int width;                 ///< of a bias with the half
};

/// `width`: of all biases that may come, or 0.
Start start_of(const StepBuilder& builder, const std::vector<Wide>& bias, int width);

std::vector<Wide> widened(const integer::Codes& codes);

/// `weight`: of the numbers that a step multiplies its input by, or of their short codes.
Operands operands_of(const StepBuilder& builder, const integer::FixedType& weight, Wide half,
                     const std::optional<integer::FloatCode>& weight_code = std::nullopt);
Multiplication multiplication_of(const StepBuilder& builder, Wide half);

/// Whether a matrix becomes a module whose weights are constants, without multipliers.
bool is_constant(const MatrixShape& shape, const Fold& fold);
/// The outputs of a lane's products: all of a beat, but only those of one group of channels.
SharedProducts shared_products(const Program& program, const Step& step, const Fold& fold);

/// A matrix on a stream whose lanes are the fold's in_lanes: constants where they can be.
StreamId add_matrix(StepBuilder& builder, StreamId in);

/// The datapath of a step, whose memories hold its matrix in `shape`, `simd` columns of `pe` rows a
/// word; `shares` groups of outputs read operands of their own.
MultiplyAccumulate multiply_accumulate_of(StepBuilder& builder, const MatrixShape& shape,
                                          std::int64_t simd, std::int64_t pe,
                                          std::int64_t shares = 1);

}  // namespace mase::design
