// SPDX-License-Identifier: Apache-2.0
// The forms of weights, of which the cost model chooses.
#include "hardware/design/building/weight_forms.hpp"

#include <algorithm>
#include <bit>
#include <set>
#include <span>
#include <utility>

#include "hardware/design/modules/primitives.hpp"

namespace mase::design {
namespace {

using integer::Codes;
using integer::FloatCode;

/// The power of two that divides all of these numbers; 0 for zeros.
int shared_power(std::span<const std::int64_t> numbers) {
  std::uint64_t any = 0;
  for (const std::int64_t number : numbers) any |= static_cast<std::uint64_t>(number);
  return any == 0 ? 0 : std::countr_zero(any);
}

/// Calls `see` with every `simd` weights and their power.
template <class See>
void for_each_group(const Codes& weights, std::int64_t simd, See&& see) {
  for (std::size_t first = 0; first < weights.size(); first += static_cast<std::size_t>(simd)) {
    const auto group = std::span(weights).subspan(first, static_cast<std::size_t>(simd));
    see(group, shared_power(group));
  }
}

/// What the powers leave of weights.
struct Scaled {
  int bits = 0;                                  ///< of an element as a number
  int exponent_bits = 0;                         ///< 0: no power divides a group
  std::optional<FloatCode> code = std::nullopt;  ///< shorter than the numbers
};

Scaled scaled_weights(const Codes& weights, std::int64_t simd, bool is_signed) {
  Scaled found;
  int most = 0;
  std::set<std::int64_t> elements;  // as many as have codes, and one
  for_each_group(weights, simd, [&](std::span<const std::int64_t> group, int power) {
    const auto [low, high] = std::ranges::minmax(group);
    const int bits =
        integer::type_for(std::min<Wide>(low >> power, is_signed ? -1 : 0), high >> power, 0).width;
    found.bits = std::max(found.bits, bits);
    most = std::max(most, power);
    for (const std::int64_t number : group)
      if (elements.size() <= std::size_t{1} << integer::most_level_bits)
        elements.insert(number >> power);
  });
  found.exponent_bits = log2_ceiling(most + 1);
  const Codes distinct(elements.begin(), elements.end());
  if (elements.size() <= std::size_t{1} << integer::most_level_bits)
    found.code = FloatCode::shortest(distinct, std::min(integer::most_level_bits, found.bits - 1));
  return found;
}

/// Whether weights may stand under powers of two: fewer bits of them save less than the shift
/// costs where they are short, and nothing in a DSP block; sums of blocks are shifted anyway.
bool may_scale(const StepBuilder& builder, const MultiplyAccumulate& unit) {
  const Fold& fold = builder.fold;
  const auto* convolution = std::get_if<integer::Convolution>(&builder.step.operation);
  const bool stays = builder.program.contents == integer::Contents::fixed;
  const bool has_rows = !convolution || !convolution->is_depthwise();
  if (!stays || !has_rows || fold.parallel_window || fold.packing.outputs != 1) return false;
  if (unit.in_exponent) return true;
  const int least_bits = fold.multiplier == Multiplier::fabric ? 10 : 19;
  return !unit.coded() && unit.weight_bits >= least_bits;
}

void add_scaled(std::vector<Formed>& ways, const StepMatrix& matrix, const Formed& first,
                std::int64_t simd) {
  const Scaled scaled = scaled_weights(matrix.weight, simd, first.unit.weight_signed);
  if (scaled.exponent_bits == 0) return;
  Formed way{first.unit, {.scaled = true}};
  way.unit.set_weight_numbers();
  way.unit.weight_unit = std::nullopt;
  way.unit.weight_bits = scaled.bits;
  way.unit.weight_exponent = scaled.exponent_bits;
  ways.push_back(way);
  if (!scaled.code) return;
  way.form.code = scaled.code;
  way.unit.set_weight_code(*scaled.code);
  ways.push_back(way);
}

/// Sums in front of a shift have as many bits as a beat's products need.
void set_sums(MultiplyAccumulate& unit, std::int64_t simd) {
  unit.term_stages = term_stages_of(unit);
  if (!unit.scaled()) return;
  const int bits = unit.signed_in() + unit.signed_weight() + log2_ceiling(simd);
  unit.dot_bits = std::min<std::int64_t>(unit.sum_bits, bits);
}

std::pair<double, double> dsp_and_luts(const Cost& cost) {
  return {cost.dsp, cost.lut + cost.carry};
}

}  // namespace

Formed cheapest_form(const StepBuilder& builder, const StepMatrix& matrix,
                     const MultiplyAccumulate& unit, const ProductShape& shape) {
  const int unit_bits = static_cast<int>(unit.weight_unit.value_or(0));
  std::vector<Formed> ways{{unit, {false, unit_bits, matrix.weight_code}}};
  if (matrix.weight_code) {
    ways.push_back({unit, {false, unit_bits, std::nullopt}});
    ways.back().unit.set_weight_numbers();
  }
  if (may_scale(builder, unit)) add_scaled(ways, matrix, Formed(ways.front()), shape.simd);
  for (std::size_t i = 0, count = ways.size(); i < count; ++i) {
    set_sums(ways[i].unit, shape.simd);
    if (!ways[i].unit.coded() || !unit.booth()) continue;
    ways.push_back(ways[i]);
    ways.back().unit.set_decode();
  }
  if (ways.size() == 1) return ways.front();
  const Cost first = multiply_accumulate_cost({}, unit, shape);
  return *std::ranges::min_element(ways, {}, [&](const Formed& way) {
    const Cost cost = multiply_accumulate_cost({}, way.unit, shape);
    return std::pair(cost.bram > first.bram, dsp_and_luts(cost));
  });
}

std::vector<std::string> weight_words(const Formed& formed, const StepMatrix& matrix,
                                      const MatrixShape& shape, std::int64_t simd,
                                      std::int64_t pe) {
  std::vector<Wide> held, powers;
  const auto code = [&](std::int64_t number) {
    return formed.form.code ? formed.form.code->code(number).value() : number;
  };
  const int bits = formed.unit.weight_bits;
  if (!formed.form.scaled) {
    for (const std::int64_t number : matrix.weight)
      held.push_back(formed.form.code ? code(number) : number >> formed.form.unit);
    return matrix_words(held, shape, simd, pe, bits);
  }
  for_each_group(matrix.weight, simd, [&](std::span<const std::int64_t> group, int power) {
    for (const std::int64_t number : group) held.push_back(code(number >> power));
    powers.push_back(power);
  });
  return matrix_words(held, powers, shape, simd, pe, bits,
                      static_cast<int>(formed.unit.weight_exponent.value()));
}

}  // namespace mase::design
