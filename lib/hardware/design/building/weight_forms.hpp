// SPDX-License-Identifier: Apache-2.0
// How memories hold the weights of products: as numbers or as short codes, either as they are or
// under powers of two that the weights of a product share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hardware/design/building/step_matrix.hpp"

namespace mase::design {

struct WeightForm {
  /// Whether every `simd` weights stand under the power of two that divides all of them, and
  /// whether under another factor of all of them, too.
  bool scaled = false, factored = false;
  int unit = 0;  ///< the same power of all weights, which memories leave out
  /// The codes that memories hold; nullopt: they hold numbers.
  std::optional<integer::FloatCode> code = std::nullopt;
};

/// A datapath, and what its memories hold.
struct Formed {
  MultiplyAccumulate unit;
  WeightForm form;
};

/// The form that takes the fewest DSP blocks, then the fewest LUTs, without more block memory than
/// that of the step has, and where codes become numbers: in the dot product or in front of it.
/// `unit` has the operands of the step, with the exponent that those in blocks share.
Formed cheapest_form(const StepBuilder& builder, const StepMatrix& matrix,
                     const MultiplyAccumulate& unit, const ProductShape& shape);

/// The words of a memory of weights, with their exponents above them. `shape` is that of the
/// memory.
std::vector<std::string> weight_words(const Formed& formed, const StepMatrix& matrix,
                                      const MatrixShape& shape, std::int64_t simd, std::int64_t pe);

}  // namespace mase::design
