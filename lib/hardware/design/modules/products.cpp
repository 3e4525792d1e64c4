// SPDX-License-Identifier: Apache-2.0
// Operands, dot products, accumulators and rounding.
#include "hardware/design/modules/products.hpp"

#include <algorithm>
#include <iterator>

#include "hardware/design/modules/primitives.hpp"

namespace mase::design {
namespace {

/// hw_templates/matrix/mase_accumulate: choosing between bias and running sum takes no LUTs of its
/// own.
Cost accumulate_cost(int bits) {
  Cost cost = adder_cost(bits);
  cost.ff = bits;
  return cost;
}

/// Registers of one lane's operands, `count` of them one after another; a DSP block holds two of
/// those that it alone reads.
double operand_registers(std::int64_t bits, std::int64_t count, bool in_dsp) {
  return static_cast<double>(bits * (in_dsp ? std::max<std::int64_t>(count - 2, 0) : count));
}

/// The registers of a lane's weights. A multiplier holds a register of one of the weights that
/// share it.
double weight_registers(std::int64_t bits, std::int64_t count, bool in_dsp, const Packs& packs) {
  if (packs.outputs == 1) return operand_registers(bits, count, in_dsp);
  const auto outputs = static_cast<double>(packs.outputs);
  return static_cast<double>(bits) * (static_cast<double>(count) - 1 / outputs);
}

/// hw_templates/matrix/mase_decode: of codes of up to six bits a LUT makes a bit.
Cost decode_cost(const std::optional<integer::FloatCode>& code) {
  if (!code) return {};
  const int longer = std::clamp(code->width - 6, 0, 2), bits = code->number_width;
  Cost cost{.lut = fitted.decode_bit[static_cast<std::size_t>(longer)] * bits};
  if (longer > 0 && code->is_signed) cost.carry = carry_chain(bits);
  return cost;
}

/// The shift of a sum by exponents, which travel through so many stages.
Cost sum_shift_cost(const SumsOfProducts& sums, int stages) {
  const int bits = sums.exponent_bits();
  Cost cost{.lut = sums.sum_bits * shifter_luts(bits)};
  if (sums.in_exponent && sums.weight_exponent) cost += adder_cost(bits);
  cost.ff = static_cast<double>(sums.sum_bits + 1 + bits * stages);
  return cost;
}

/// The product of a sum and its factors, a sum of as many multiples as these have bits.
Cost sum_factor_cost(const SumsOfProducts& sums, int stages) {
  const int factor = sums.factor_bits();
  if (factor == 0) return {};
  const int bits = static_cast<int>(sums.dot_bits.value_or(sums.sum_bits)) + factor;
  Cost cost = scaled(adder_cost(bits), factor);
  if (sums.in_factor && sums.weight_factor)
    cost += scaled(adder_cost(factor), static_cast<double>(*sums.weight_factor - 1));
  cost.ff = static_cast<double>(bits + factor * stages);
  return cost;
}

/// Operands and weights in front of the products, with hw_templates/matrix/mase_dot_skew.
Cost operands_cost(const SumsOfProducts& sums, const ProductShape& shape, bool in_dsp) {
  const bool numbers = sums.takes_numbers();
  const int in = numbers ? sums.in_number_bits() : sums.in_bits;
  const int weight = numbers ? sums.weight_number_bits() : sums.weight_bits;
  const std::int64_t pairs = std::min<std::int64_t>(4, ceiling(shape.simd, 2));
  Cost cost;
  if (numbers) {
    cost += scaled(decode_cost(sums.in_code()), static_cast<double>(shape.shares * shape.simd));
    cost += scaled(decode_cost(sums.weight_code()), static_cast<double>(shape.pe * shape.simd));
  }
  for (std::int64_t lane = 0; lane < shape.simd; ++lane) {
    const std::int64_t chain = std::min<std::int64_t>(8, shape.simd - lane / 8 * 8);
    const std::int64_t late = sums.booth() ? 0 : pairs - ceiling(chain, 2) + lane % 8 / 2;
    cost.ff += operand_registers(shape.shares * in, 1 + late + sums.operand_stages.value_or(0),
                                 in_dsp && shape.shares == shape.pe) +
               weight_registers(shape.pe * weight, 1 + late + sums.weight_stages.value_or(0),
                                in_dsp, sums.packs());
  }
  return cost;
}

/// No value for none, which is what an instance does not say.
std::optional<std::int64_t> some(std::int64_t stages) {
  return stages > 0 ? std::optional(stages) : std::nullopt;
}

}  // namespace

namespace {

/// Without the bits that no magnitude has.
std::int64_t mantissa_of(const integer::FloatCode& code) {
  return std::min(code.mantissa, code.magnitude_bits());
}

std::optional<std::int64_t> zero_of(const integer::FloatCode& code) {
  return code.has_zero ? std::nullopt : std::optional<std::int64_t>(0);
}

integer::FloatCode code_of(int bits, bool is_signed, std::int64_t mantissa,
                           std::optional<std::int64_t> zero, int number) {
  return {bits, static_cast<int>(mantissa), is_signed, zero.value_or(1) != 0, number};
}

}  // namespace

std::optional<integer::FloatCode> Operands::in_code() const {
  if (!in_float) return std::nullopt;
  return code_of(in_bits, in_signed, *in_float, in_zero, in_number_bits());
}

std::optional<integer::FloatCode> Operands::weight_code() const {
  if (!weight_float) return std::nullopt;
  return code_of(weight_bits, weight_signed, *weight_float, weight_zero, weight_number_bits());
}

void Operands::set_in_code(const integer::FloatCode& code) {
  in_bits = code.width;
  in_signed = code.is_signed;
  in_float = mantissa_of(code);
  in_zero = zero_of(code);
  in_number = code.number_width;
}

void Operands::set_weight_code(const integer::FloatCode& code) {
  weight_bits = code.width;
  weight_signed = code.is_signed;
  weight_float = mantissa_of(code);
  weight_zero = zero_of(code);
  weight_number = code.number_width;
  if (code.unit > 0) weight_unit = code.unit;
}

void Operands::set_weight_numbers() {
  weight_bits = weight_number_bits();
  weight_float = weight_zero = weight_number = std::nullopt;
}

void Operands::set_decode() {
  decode = 1;
  term_stages = std::nullopt;
}

int Operands::exponent_bits() const {
  const auto [least, most] = std::minmax({in_exponent.value_or(0), weight_exponent.value_or(0)});
  return static_cast<int>(least > 0 ? most + 1 : most);
}

std::optional<std::int64_t> term_stages_of(const Operands& operands) {
  if (!operands.coded()) return std::nullopt;
  const auto in = operands.in_code(), weight = operands.weight_code();
  if (has_product_table(in, weight)) return in->is_signed || weight->is_signed ? 2 : 1;
  const auto bits = [](const auto& code, int number) {
    return code ? code->significand_bits() : number;
  };
  const bool multiplies = bits(in, operands.in_bits) > 1 && bits(weight, operands.weight_bits) > 1;
  const bool shifts = (in && in->most_shift() > 0) || (weight && weight->most_shift() > 0);
  return some((multiplies ? 1 : 0) + (shifts ? 1 : 0));
}

PipelineStages stages_of(const Fold& fold) {
  return {some(fold.operand_stages), some(fold.weight_stages), some(fold.product_stages)};
}

int accumulate_stages(const SumsOfProducts& sums, std::int64_t simd) {
  const int levels = log2_ceiling(simd);
  const int moved = static_cast<int>(sums.operand_stages.value_or(0)) + (sums.scaled() ? 1 : 0) +
                    (sums.factor_bits() > 0 ? 1 : 0);
  if (sums.booth()) {
    const int terms = sums.coded() && !sums.takes_numbers()
                          ? static_cast<int>(sums.term_stages.value_or(0)) - 1
                          : 0;
    return moved + 5 + (levels <= 2 ? 1 : 2 + (levels - 2) / 2) + terms;
  }
  const int behind = static_cast<int>(sums.product_stages.value_or(0));
  const bool unpacks = sums.packs().known > 1;
  return moved + 6 + behind + static_cast<int>(std::min<std::int64_t>(4, ceiling(simd, 2))) +
         log2_ceiling(ceiling(simd, 8)) + (unpacks ? 1 : 0);
}

Cost products_cost(const SumsOfProducts& sums, const ProductShape& shape, bool two_words) {
  const auto outputs = static_cast<double>(shape.pe);
  DotShape dot{
      shape.simd, sums.signed_in(), sums.signed_weight(),
      static_cast<int>(sums.dot_bits.value_or(sums.sum_bits - sums.weight_unit.value_or(0))),
      sums.product_stages.value_or(0)};
  if (!sums.takes_numbers()) {
    dot.a_code = sums.in_code();
    dot.b_code = sums.weight_code();
    dot.term_stages = sums.term_stages.value_or(0);
  }
  const Packs packs = sums.packs();
  Cost cost = packs.outputs == 1 ? scaled(dot_cost(dot, sums.booth()), outputs)
                                 : scaled(dots_packed_cost(dot, shape.pe / shape.shares, packs),
                                          static_cast<double>(shape.shares));
  if (two_words && cost.dsp == 0)
    cost.lut *= sums.booth() ? fitted.two_words_booth : fitted.two_words;
  Cost each = accumulate_cost(sums.sum_bits);
  each += requantise_stage_cost(sums, {sums.sum_bits}, sums.halved);
  if (sums.scaled()) each += sum_shift_cost(sums, accumulate_stages(sums, shape.simd) - 5);
  each += sum_factor_cost(sums, accumulate_stages(sums, shape.simd) - 6);
  cost += scaled(each, outputs);
  cost += operands_cost(sums, shape, cost.dsp > 0);
  const int stages = accumulate_stages(sums, shape.simd) - 2;
  // Rows of one step have no marks of first and last.
  cost += Cost{.lut = shape.columns > 1 ? fitted.marks : 0.0, .ff = 3.0 * stages + 2};
  return cost;
}

bool decoders_pay(const SumsOfProducts& sums, const ProductShape& shape) {
  if (!sums.booth() || !sums.coded()) return false;
  SumsOfProducts decoded = sums;
  decoded.set_decode();
  const Cost codes = products_cost(sums, shape, false),
             numbers = products_cost(decoded, shape, false);
  return numbers.lut + numbers.carry < codes.lut + codes.carry;
}

namespace {

/// hw_templates/matrix/mase_dot with Booth rows: four of them one after another. Weights come from
/// the registers of their block memories, if they are in some.
Path booth_path(const SumsOfProducts& sums, std::int64_t simd, const Blocks& blocks) {
  const int bits = sums.signed_in() + sums.signed_weight();
  const auto rows = static_cast<double>(std::min<std::int64_t>(simd, 4));
  Path path{.what = "rows of products", .luts = 1, .chains = rows, .carry = bits + rows};
  if (sums.weight_stages.value_or(0) > 0 || blocks.count == 0) return path;
  path.from = Source::memory;
  return path;
}

/// hw_templates/matrix/mase_dot_float: significands are multiplied and exponents added, then the
/// product is shifted, then rows are added; a register may stand behind either of the former, or
/// behind a table of the product.
Paths float_paths(const SumsOfProducts& sums, std::int64_t simd, const Blocks& blocks) {
  const auto in = sums.in_code(), weight = sums.weight_code();
  const int a = in ? in->significand_bits() : sums.in_bits;
  const int b = weight ? weight->significand_bits() : sums.weight_bits;
  const std::int64_t stages = sums.term_stages.value_or(0);
  const bool shifts = (in && in->most_shift() > 0) || (weight && weight->most_shift() > 0);
  Path rows = booth_path(sums, simd, blocks);
  Path terms{.what = "products of significands", .from = rows.from, .luts = 2};
  const bool table = has_product_table(in, weight);
  if (a > 1 && b > 1 && !table) {
    terms.luts += 1;
    terms.chains = 2;
    terms.carry = a + b;
  }
  if (shifts && stages < 2 && !table) terms.luts += 2;
  if (stages > 0) {
    rows.from = Source::logic;
    return {terms, rows};
  }
  rows.luts += terms.luts;
  rows.chains += terms.chains;
  rows.carry += terms.carry;
  return {rows};
}

/// Whether DSP blocks multiply operands of these widths.
bool multiply_in_blocks(const Operands& operands) {
  const int a = operands.signed_in(), b = operands.signed_weight();
  return dsp_blocks(a, b, a + b) > 0;
}

/// The path of the tool's multipliers: from one DSP block to the next, or into a tree of adders.
Path dot_path(const SumsOfProducts& sums, std::int64_t simd, const Technology& technology) {
  const int a = sums.signed_in(), b = sums.signed_weight();
  const auto bits = static_cast<double>(std::min(a + b, sums.sum_bits));
  if (!multiply_in_blocks(sums))
    return {.what = "products", .luts = 2, .chains = std::min(a, b) / 2.0, .carry = 2 * bits};
  // Two to six lanes have no cycle for the way to the tree (hw_templates/ecp5/mase_dot_multiply).
  const bool direct = simd > 1 && simd < 7 && sums.product_stages.value_or(0) == 0;
  Path path{.what = "products",
            .from = Source::multiplier,
            .far = direct ? technology.ways.direct_products : technology.ways.products};
  if (technology.adds_in_blocks) path.cascades = simd > 1 ? 1 : 0;
  if (!technology.adds_in_blocks && direct) path.chains = 1;
  if (!technology.adds_in_blocks && direct) path.carry = bits;
  return path;
}

/// From hw_templates/matrix/mase_ready to all DSP blocks, which stand where weights and sums want
/// them.
Path multiply_path(const SumsOfProducts& sums, const Technology& technology) {
  const bool blocks = !sums.booth() && multiply_in_blocks(sums);
  return {.what = "enable of multipliers", .far = blocks ? technology.ways.enable : 0.0};
}

/// To the multipliers, from block memories or (none) from registers. Few blocks stand beside the
/// multipliers, many of them far away; every stage takes a part of the way. A choice among blocks
/// above each other stands on the first part.
Path weights_path(const SumsOfProducts& sums, const Technology& technology, const Blocks& blocks,
                  std::int64_t multipliers) {
  const std::int64_t stages = sums.weight_stages.value_or(0);
  Path path{.what = "weights", .from = blocks.count > 0 ? Source::memory : Source::logic};
  const auto parts = static_cast<double>(1 + stages);
  path.blocks =
      static_cast<double>(blocks.count) / (parts * parts * static_cast<double>(multipliers));
  if (blocks.deep > 1) path.luts = choice_luts_deep(blocks.deep, technology);
  if (sums.takes_numbers() && sums.weight_float) path.luts += sums.weight_bits > 6 ? 3 : 1;
  if (!sums.booth())
    path.far = stages > 0 ? technology.ways.staged_weights : technology.ways.weights;
  return path;
}

}  // namespace

Paths products_paths(const SumsOfProducts& sums, const ProductShape& shape, const Blocks& blocks,
                     const Technology& technology) {
  Path accumulator{.what = "accumulator", .chains = 1, .carry = static_cast<double>(sums.sum_bits)};
  accumulator.readers = static_cast<double>(shape.pe * sums.sum_bits);
  Paths paths{weights_path(sums, technology, blocks, shape.simd * shape.pe)};
  if (!sums.takes_numbers() && sums.coded())
    std::ranges::copy(float_paths(sums, shape.simd, blocks), std::back_inserter(paths));
  else
    paths.push_back(sums.booth() ? booth_path(sums, shape.simd, blocks)
                                 : dot_path(sums, shape.simd, technology));
  if (const int factor = sums.factor_bits(); factor > 0)
    paths.push_back({.what = "factor of sums",
                     .luts = 1,
                     .chains = static_cast<double>(factor > 4 ? 1 + ceiling(factor, 2) : factor),
                     .carry = static_cast<double>(sums.dot_bits.value_or(sums.sum_bits))});
  if (sums.scaled())
    paths.push_back({.what = "shift of sums",
                     .luts = static_cast<double>(ceiling(sums.exponent_bits(), 2)),
                     .readers = static_cast<double>(sums.sum_bits)});
  paths.push_back(multiply_path(sums, technology));
  paths.push_back(accumulator);
  paths.push_back(rounding_path(sums, {sums.sum_bits}, technology, sums.halved));
  return paths;
}

}  // namespace mase::design
