// SPDX-License-Identifier: Apache-2.0
// Sums of products, as linear, depthwise and matmul have them: the parameters that these share,
// and what hw_templates/matrix/mase_products takes, costs and lasts.
#pragma once

#include <cstdint>
#include <optional>
#include <tuple>

#include "hardware/design/clock.hpp"
#include "hardware/design/cost.hpp"
#include "hardware/design/modules/dot.hpp"
#include "hardware/design/modules/module.hpp"
#include "hardware/design/modules/paths.hpp"
#include "hardware/design/modules/requantisation.hpp"
#include "hardware/integer/float_code.hpp"

namespace mase::design {

/// A group of parameters: the numbers that are multiplied, and the sum. Either operand may be a
/// short code of numbers, whose bits and sign are those of the code then.
struct Operands {
  int in_bits = 8;
  bool in_signed = true;
  int weight_bits = 6;
  bool weight_signed = true;
  int sum_bits = 20;
  bool halved = false;
  std::optional<std::int64_t> in_float = std::nullopt, in_zero = std::nullopt,
                              in_number = std::nullopt;
  std::optional<std::int64_t> weight_float = std::nullopt, weight_zero = std::nullopt,
                              weight_number = std::nullopt, weight_unit = std::nullopt;
  std::optional<std::int64_t> term_stages = std::nullopt;  ///< of terms made of codes
  std::optional<std::int64_t> decode = std::nullopt;       ///< 1: Booth rows take numbers
  /// Bits of the exponents that operands and weights share, and of sums in front of their shift.
  std::optional<std::int64_t> in_exponent = std::nullopt, weight_exponent = std::nullopt,
                              dot_bits = std::nullopt;
  /// Bits of other factors of these.
  std::optional<std::int64_t> in_factor = std::nullopt, weight_factor = std::nullopt;

  bool scaled() const { return in_exponent || weight_exponent; }
  /// Bits of what stands above the operands, and above the weights of a product.
  std::int64_t in_scale_bits() const { return in_exponent.value_or(0) + in_factor.value_or(0); }
  std::int64_t weight_scale_bits() const {
    return weight_exponent.value_or(0) + weight_factor.value_or(0);
  }
  /// Bits of the product of both factors.
  int factor_bits() const {
    return static_cast<int>(in_factor.value_or(0) + weight_factor.value_or(0));
  }
  /// Bits of the sum of both exponents.
  int exponent_bits() const;
  bool coded() const { return in_float || weight_float; }
  std::optional<integer::FloatCode> in_code() const;
  std::optional<integer::FloatCode> weight_code() const;
  void set_in_code(const integer::FloatCode& code);
  void set_weight_code(const integer::FloatCode& code);
  void set_weight_numbers();  ///< weights are the numbers of their codes
  void set_decode();          ///< codes become numbers in front of Booth rows

  // The numbers' bits.
  int in_number_bits() const { return static_cast<int>(in_number.value_or(in_bits)); }
  int weight_number_bits() const { return static_cast<int>(weight_number.value_or(weight_bits)); }
  // As signed numbers.
  int signed_in() const { return signed_bits(Width{in_number_bits(), in_signed}); }
  int signed_weight() const { return signed_bits(Width{weight_number_bits(), weight_signed}); }

  static constexpr auto fields() {
    return std::tuple{
        Field{"AW", &Operands::in_bits, "bits of an element that comes"}.at_least(1),
        Field{"ASIGNED", &Operands::in_signed, "whether it has a sign"},
        Field{"WW", &Operands::weight_bits, "bits of a weight"}.at_least(1),
        Field{"WSIGNED", &Operands::weight_signed, "whether it has a sign"},
        Field{"ACCW", &Operands::sum_bits, "bits of a sum"}.at_least(1),
        Field{"HALVED", &Operands::halved, "whether sums begin with half of the divisor"},
        Field{"AFLOAT", &Operands::in_float, "bits of the mantissa, if an element is a short code"}
            .at_least(0),
        Field{"AZERO", &Operands::in_zero, "whether it can be zero"}.between(0, 1),
        Field{"AN", &Operands::in_number, "bits of its number"}.at_least(1)};
  }
  /// For operands and weights that stand in memories.
  static constexpr auto exponent_fields() {
    return std::tuple{
        Field{"AEXP", &Operands::in_exponent, "bits of the exponent that a beat's elements share"}
            .at_least(1),
        Field{"WEXP", &Operands::weight_exponent,
              "bits of the exponent that the weights of a product share"}
            .at_least(1),
        Field{"AFACTOR", &Operands::in_factor,
              "bits of the factor that a beat's elements share, too"}
            .at_least(1),
        Field{"WFACTOR", &Operands::weight_factor,
              "bits of the factor that the weights of a product share, too"}
            .at_least(1),
        Field{"DOTW", &Operands::dot_bits, "bits of a sum in front of its shift by them"}.at_least(
            1)};
  }
  /// For weights that are not constants in the logic.
  static constexpr auto weight_code_fields() {
    return std::tuple{
        Field{"WFLOAT", &Operands::weight_float,
              "bits of the mantissa, if a weight is a short code"}
            .at_least(0),
        Field{"WZERO", &Operands::weight_zero, "whether it can be zero"}.between(0, 1),
        Field{"WN", &Operands::weight_number, "bits of its number"}.at_least(1),
        Field{"TERM_STAGES", &Operands::term_stages,
              "registers between short codes and the rows of their products"}
            .between(0, 2),
        Field{"DECODE", &Operands::decode, "whether Booth rows take the numbers of short codes"}
            .between(0, 1)};
  }
};

/// Registers for the terms of a dot product in fabric: one behind the product of significands, if
/// neither is a single bit, and one behind the shift, if there is one; one behind a table of
/// products, and one in front of it, if there is a sign. None for numbers.
std::optional<std::int64_t> term_stages_of(const Operands& operands);

/// A group of parameters: whether sums start from a bias.
struct Bias {
  bool has_bias = true;
  int bias_bits = 16;

  static constexpr auto fields() {
    return std::tuple{Field{"HAS_BIAS", &Bias::has_bias, "whether sums start from a bias"},
                      Field{"BW", &Bias::bias_bits, "bits of a bias"}.at_least(1)};
  }
};

/// A group of parameters: what multiplies, and what sums without a bias start from. Outputs that
/// share multipliers have the last three.
struct Multiplication {
  Sized start{0, 64, true};
  int multiplier = 0;
  std::optional<std::int64_t> pack = std::nullopt, pitch = std::nullopt, known = std::nullopt;

  bool booth() const { return multiplier == static_cast<int>(Multiplier::fabric); }
  Packs packs() const {
    return {pack.value_or(1), static_cast<int>(pitch.value_or(0)),
            static_cast<int>(known.value_or(0))};
  }

  static constexpr auto fields() {
    return std::tuple{
        Field{"START", &Multiplication::start, "what a sum without a bias starts from"},
        multiplier_field(&Multiplication::multiplier),
        Field{"PACK", &Multiplication::pack, "outputs whose weights share a multiplier"}.at_least(
            1),
        Field{"PITCH", &Multiplication::pitch, "bits from one of these weights to the next"},
        Field{"KNOWN", &Multiplication::known, "low bits of a sum that are made beside it"}};
  }
};

/// A group of parameters: registers on long ways, for modules that have some.
struct PipelineStages {
  std::optional<std::int64_t> operand_stages = std::nullopt, weight_stages = std::nullopt,
                              product_stages = std::nullopt;

  static constexpr auto fields() {
    return std::tuple{
        Field{"OPERAND_STAGES", &PipelineStages::operand_stages, "registers on the operands' way"}
            .at_least(0),
        Field{"WEIGHT_STAGES", &PipelineStages::weight_stages,
              "those of them that the weights have, too"}
            .at_least(0),
        Field{"PRODUCT_STAGES", &PipelineStages::product_stages, "registers behind the multipliers"}
            .at_least(0)};
  }
};

PipelineStages stages_of(const Fold& fold);

/// Gives an instance of T the stages of a fold.
template <HardwareModule T>
void set_stages(Instance& instance, const Fold& fold) {
  T module = module_of<T>(instance);
  static_cast<PipelineStages&>(module) = stages_of(fold);
  instance.module = std::move(module);
}

/// What a module with sums of products is.
struct SumsOfProducts : Operands, Requantisation, Multiplication, PipelineStages {
  /// Whether codes become numbers in front of what multiplies: the tool's multipliers take no
  /// codes.
  bool takes_numbers() const { return !booth() || decode.value_or(0) != 0; }
};

/// How far they unfold, and how many there are.
struct ProductShape {
  std::int64_t columns = 1, rows = 1;  ///< steps of a row; rows of weights
  std::int64_t simd = 1, pe = 1;       ///< products of a step for each output; outputs of a row
  std::int64_t shares = 1;             ///< groups of outputs that read the same operands
};

/// Registers of hw_templates/matrix/mase_multiply_accumulate between a step and the skid at its
/// end: those on the operands' way, the word read, operands, products, those behind them, the
/// additions of mase_dot, what mase_dot_packed takes off, the accumulator and rounding.
int accumulate_stages(const SumsOfProducts& sums, std::int64_t simd);

/// hw_templates/matrix/mase_products without biases and skid. `two_words`: of weights, half of
/// whose bits are constants.
Cost products_cost(const SumsOfProducts& sums, const ProductShape& shape, bool two_words);

/// Whether Booth rows of numbers, with decoders in front of them, take fewer LUTs than sums of
/// products of short codes.
bool decoders_pay(const SumsOfProducts& sums, const ProductShape& shape);

/// Its paths; `blocks` that the weights are in.
Paths products_paths(const SumsOfProducts& sums, const ProductShape& shape, const Blocks& blocks,
                     const Technology& technology);

}  // namespace mase::design
