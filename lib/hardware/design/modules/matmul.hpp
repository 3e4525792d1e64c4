// SPDX-License-Identifier: Apache-2.0
// Module mase_matmul.
#pragma once

#include "hardware/design/modules/module.hpp"
#include "hardware/design/modules/products.hpp"

namespace mase::design {

/// Rows of a stream times the matrices of another one, which are kept whole; folded.
struct MatmulModule : SumsOfProducts {
  static constexpr std::string_view module_name = "mase_matmul";
  std::int64_t columns = 2, passes = 2, sets = 1, repeat = 1, rounds = 1, simd = 2, pe = 2;
  bool transposed = false, interleaved = false;

  static constexpr auto fields() {
    return std::tuple_cat(
        std::tuple{
            Field{"SF", &MatmulModule::columns, "beats of a row"}.at_least(1),
            Field{"NF", &MatmulModule::passes, "passes over a row, a beat of outputs each"}
                .at_least(1),
            Field{"SETS", &MatmulModule::sets, "matrices of a frame"}.at_least(1),
            Field{"REPEAT", &MatmulModule::repeat, "rows of a matrix, one after another"}.at_least(
                1),
            Field{"ROUNDS", &MatmulModule::rounds, "times that all matrices take their turn"}
                .at_least(1),
            Field{"SIMD", &MatmulModule::simd, "elements of a beat of a row"}.at_least(1),
            Field{"PE", &MatmulModule::pe, "elements of a beat that leaves"}.at_least(1),
            Field{"TRANSPOSED", &MatmulModule::transposed,
                  "whether a beat of a matrix has several outputs of one input"},
            Field{"INTERLEAVED", &MatmulModule::interleaved,
                  "whether the rows of the matrices take turns"}},
        Operands::fields(), Requantisation::fields(), Multiplication::fields(),
        Operands::weight_code_fields());
  }

  ProductShape shape() const { return {columns, 1, simd, pe}; }
  // hw_templates/matrix/mase_matrix_memory.
  std::int64_t words() const { return sets * passes * columns; }  ///< of a frame, in each bank
  std::int64_t banks() const { return transposed ? simd : pe; }
  std::int64_t width() const { return (transposed ? pe : simd) * weight_bits; }  ///< of a word

  std::unique_ptr<Handshake> handshake(Stages kept) const;
  Cost cost(const Design& design) const;
  Paths paths(const Technology& technology) const;
  static ModuleRow row();
  static StepRow step();
};

}  // namespace mase::design
