// SPDX-License-Identifier: Apache-2.0
// The groups of parameters of a matrix, from its step and its fold.
#include "hardware/design/building/step_matrix.hpp"

#include <algorithm>

#include "hardware/design/building/weight_forms.hpp"
#include "hardware/design/modules/constant_linear.hpp"
#include "hardware/design/modules/linear.hpp"
#include "hardware/design/modules/primitives.hpp"

namespace mase::design {

StepMatrix matrix_of(const Step& step) {
  const integer::ConstantMatrix matrix = integer::constant_matrix(step.operation).value();
  return {{matrix.groups, matrix.rows / matrix.groups, matrix.columns},
          matrix.weight_type,
          matrix.weight,
          matrix.weight_code,
          matrix.bias,
          matrix.bias_width};
}

Start start_of(const StepBuilder& builder, const std::vector<Wide>& bias, int width) {
  Start start{rounding_half(requantisation_of(builder)), bias, 0};
  for (Wide& word : start.biases) word += start.half;
  const Wide end = width > 0 ? Wide{1} << (width - 1) : 0;
  start.width = width > 0 ? integer::signed_width(start.half - end, start.half + end - 1)
                          : integer::codes_width(start.biases);
  return start;
}

std::vector<Wide> widened(const integer::Codes& codes) { return {codes.begin(), codes.end()}; }

Operands operands_of(const StepBuilder& builder, const integer::FixedType& weight, Wide half,
                     const std::optional<integer::FloatCode>& weight_code) {
  const integer::StreamValue& in = builder.input();
  const Step& step = builder.step;
  Operands operands{.in_bits = in.type.width,
                    .in_signed = in.type.is_signed,
                    .weight_bits = weight.width,
                    .weight_signed = weight.is_signed,
                    .sum_bits = integer::signed_width(step.low + half, step.high + half),
                    .halved = half != 0};
  if (in.code) operands.set_in_code(*in.code);
  if (weight_code) operands.set_weight_code(*weight_code);
  operands.term_stages = term_stages_of(operands);
  return operands;
}

Multiplication multiplication_of(const StepBuilder& builder, Wide half) {
  const Packing& packing = builder.fold.packing;
  Multiplication result{.start = {half, 64, true},
                        .multiplier = static_cast<int>(builder.fold.multiplier)};
  if (packing.outputs == 1) return result;
  const SharedProducts shared = shared_products(builder.program, builder.step, builder.fold);
  result.pack = packing.outputs;
  result.pitch = packing.pitch;
  result.known = known_bits(shared, packing);
  return result;
}

bool is_constant(const MatrixShape& shape, const Fold& fold) {
  return shape.sets == 1 && fold.in_lanes == shape.columns && fold.out_lanes == shape.rows &&
         fold.multiplier != Multiplier::dsp;
}

SharedProducts shared_products(const Program& program, const Step& step, const Fold& fold) {
  const integer::FixedType& in = program.value(step.inputs.at(0)).type;
  const integer::StreamValue& other = program.value(step.inputs.back());
  const bool in_codes = program.value(step.inputs.at(0)).code || other.code;
  if (std::holds_alternative<integer::Matmul>(step.operation))
    return {in, other.type, fold.in_lanes, in_codes ? 1 : fold.out_lanes};
  const StepMatrix matrix = matrix_of(step);
  SharedProducts shared{in, matrix.weight_type, fold.in_lanes,
                        std::min(fold.out_lanes, matrix.shape.rows)};
  if (in_codes || matrix.weight_code || integer::blocks_of(step.operation) ||
      is_constant(matrix.shape, fold))
    shared.outputs = 1;
  return shared;
}

StreamId add_matrix(StepBuilder& builder, StreamId in) {
  const bool stays = builder.program.contents == integer::Contents::fixed;
  return stays && is_constant(matrix_of(builder.step).shape, builder.fold)
             ? add_constant_linear(builder, in)
             : add_linear(builder, in);
}

MultiplyAccumulate multiply_accumulate_of(StepBuilder& builder, const MatrixShape& shape,
                                          std::int64_t simd, std::int64_t pe, std::int64_t shares) {
  const StepMatrix matrix = matrix_of(builder.step);
  const Start start = start_of(builder, matrix.bias, matrix.bias_width);
  SumsOfProducts sums{operands_of(builder, matrix.weight_type, start.half, matrix.weight_code),
                      requantisation_of(builder), multiplication_of(builder, start.half),
                      stages_of(builder.fold)};
  if (const integer::BlockInput blocks = integer::blocks_of(builder.step.operation)) {
    const int bits = builder.input(1).type.width;
    sums.in_exponent = blocks.exponent_bits.value_or(bits);
    if (blocks.exponent_bits) sums.in_factor = bits - *blocks.exponent_bits;
  }
  const Formed formed =
      cheapest_form(builder, matrix, {sums, {!start.biases.empty(), start.width}, {}},
                    {shape.columns / simd, shape.sets * shape.rows / pe, simd, pe, shares});
  MultiplyAccumulate unit = formed.unit;
  const std::int64_t word = simd * unit.weight_bits + unit.weight_scale_bits();
  unit.weight_file = builder.memory("weight", pe * word,
                                    [&] { return weight_words(formed, matrix, shape, simd, pe); });
  unit.bias_file = builder.vector_memory("bias", start.biases, pe, start.width);
  return unit;
}

}  // namespace mase::design
