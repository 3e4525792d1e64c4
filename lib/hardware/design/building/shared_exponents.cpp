// SPDX-License-Identifier: Apache-2.0
// Powers of two that weights share, and words of memories with them.
#include "hardware/design/building/shared_exponents.hpp"

#include <algorithm>
#include <bit>
#include <span>

#include "hardware/design/modules/block_join.hpp"
#include "hardware/design/modules/dot.hpp"
#include "hardware/design/modules/primitives.hpp"
#include "hardware/design/modules/repeat.hpp"

namespace mase::design {
namespace {

/// Weights as elements of fewer bits under the powers of two that those of a product share.
struct ScaledWeights {
  int element_bits = 0, exponent_bits = 0;
};

/// The power of two that divides all of these numbers; 0 for zeros.
int shared_power(std::span<const std::int64_t> numbers) {
  std::uint64_t any = 0;
  for (const std::int64_t number : numbers) any |= static_cast<std::uint64_t>(number);
  return any == 0 ? 0 : std::countr_zero(any);
}

ScaledWeights scaled_weights(const integer::Codes& weights, std::int64_t simd, bool is_signed) {
  ScaledWeights found;
  int most = 0;
  for (std::size_t first = 0; first < weights.size(); first += static_cast<std::size_t>(simd)) {
    const auto group = std::span(weights).subspan(first, static_cast<std::size_t>(simd));
    const int power = shared_power(group);
    const auto [low, high] = std::ranges::minmax(group);
    const int bits =
        integer::type_for(std::min<Wide>(low >> power, is_signed ? -1 : 0), high >> power, 0).width;
    found.element_bits = std::max(found.element_bits, bits);
    most = std::max(most, power);
  }
  found.exponent_bits = log2_ceiling(most + 1);
  return found;
}

/// LUTs of a product's terms and of what shifts their sum.
double luts_of(const Operands& operands, int element_bits, int exponent_bits, std::int64_t simd) {
  DotShape shape{simd, operands.signed_in(), element_bits + (operands.weight_signed ? 0 : 1),
                 operands.sum_bits};
  const Cost cost = dot_cost(shape, true);
  return cost.lut + cost.carry + operands.sum_bits * shifter_luts(exponent_bits);
}

}  // namespace

void set_exponents(Operands& operands, const StepBuilder& builder, const integer::Codes& weights,
                   std::int64_t simd) {
  const bool blocks = static_cast<bool>(integer::blocks_of(builder.step.operation));
  const int in_exponent = blocks ? builder.input(1).type.width : 0;
  if (blocks) operands.in_exponent = in_exponent;
  const bool stays = builder.program.contents == integer::Contents::fixed;
  const auto* convolution = std::get_if<integer::Convolution>(&builder.step.operation);
  const bool has_rows = !convolution || !convolution->is_depthwise();
  // Fewer bits of weights save less than the shift costs, and nothing in a DSP block.
  const Fold& fold = builder.fold;
  const int least_bits = fold.multiplier == Multiplier::fabric ? 10 : 19;
  if (stays && has_rows && !fold.parallel_window && !operands.coded() &&
      operands.weight_bits >= least_bits && fold.packing.outputs == 1) {
    const ScaledWeights scaled = scaled_weights(weights, simd, operands.weight_signed);
    const int both = std::max(in_exponent, scaled.exponent_bits) + (blocks ? 1 : 0);
    if (scaled.exponent_bits > 0 &&
        luts_of(operands, scaled.element_bits, both, simd) <
            luts_of(operands, operands.weight_bits, in_exponent, simd)) {
      operands.weight_bits = scaled.element_bits;
      operands.weight_exponent = scaled.exponent_bits;
    }
  }
  if (operands.scaled())
    operands.dot_bits = std::min<std::int64_t>(
        operands.sum_bits, operands.signed_in() + operands.signed_weight() + log2_ceiling(simd));
}

StreamId with_exponents(StepBuilder& builder, const std::vector<StreamId>& inputs) {
  const integer::BlockInput blocks = integer::blocks_of(builder.step.operation);
  const Stream elements = builder.stream(inputs[0]), exponents = builder.stream(inputs[1]);
  const std::int64_t beats = blocks.length / elements.lanes;
  StreamId repeated = inputs[1];
  if (beats > 1)
    repeated = builder.add(RepeatModule{exponents.type.width, beats, 1}, "_exponents", {inputs[1]},
                           {builder.name() + "_exponents", 1, exponents.type, elements.beats()});
  const BlockJoinModule join{elements.width(), exponents.type.width};
  const integer::FixedType word{static_cast<int>(elements.width()) + exponents.type.width, 0,
                                false};
  return builder.add(join, "_join", {inputs[0], repeated},
                     {builder.name() + "_join", 1, word, elements.beats()});
}

std::vector<std::string> scaled_words(const integer::Codes& weights, const MatrixShape& shape,
                                      std::int64_t simd, std::int64_t pe, int bits,
                                      int exponent_bits) {
  std::vector<Wide> elements, exponents;
  for (std::size_t first = 0; first < weights.size(); first += static_cast<std::size_t>(simd)) {
    const auto group = std::span(weights).subspan(first, static_cast<std::size_t>(simd));
    const int power = shared_power(group);
    for (const std::int64_t number : group) elements.push_back(number >> power);
    exponents.push_back(power);
  }
  return matrix_words(elements, exponents, shape, simd, pe, bits, exponent_bits);
}

}  // namespace mase::design
