// SPDX-License-Identifier: Apache-2.0
// The forms of weights, of which the cost model chooses.
#include "hardware/design/building/weight_forms.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <set>
#include <span>
#include <utility>

#include "hardware/design/modules/primitives.hpp"

namespace mase::design {
namespace {

using integer::Codes;
using integer::FloatCode;

/// Factors are odd and have so many bits, as mantissas of e4m3 have.
constexpr int factor_bits = 4;

/// What divides all of some numbers: 2^power * factor.
struct Shared {
  int power = 0;
  std::int64_t factor = 1;
};

Shared shared_by(std::span<const std::int64_t> numbers, bool factored) {
  std::int64_t divisor = 0;
  for (const std::int64_t number : numbers) divisor = std::gcd(divisor, number);
  if (divisor == 0) return {};
  Shared found{std::countr_zero(static_cast<std::uint64_t>(divisor))};
  if (!factored) return found;
  found.factor = (std::int64_t{1} << factor_bits) - 1;
  while ((divisor >> found.power) % found.factor != 0) found.factor -= 2;
  return found;
}

/// Calls `see` with every `simd` weights and what they share.
template <class See>
void for_each_group(const Codes& weights, std::int64_t simd, bool factored, See&& see) {
  for (std::size_t first = 0; first < weights.size(); first += static_cast<std::size_t>(simd)) {
    const auto group = std::span(weights).subspan(first, static_cast<std::size_t>(simd));
    see(group, shared_by(group, factored));
  }
}

std::int64_t without(std::int64_t number, const Shared& shared) {
  return (number >> shared.power) / shared.factor;
}

/// What is left of weights.
struct Scaled {
  int bits = 0;                                  ///< of an element as a number
  int exponent_bits = 0;                         ///< 0: no power divides a group
  std::optional<FloatCode> code = std::nullopt;  ///< shorter than the numbers
};

Scaled scaled_weights(const Codes& weights, std::int64_t simd, bool is_signed, bool factored) {
  Scaled found;
  int most = 0;
  std::set<std::int64_t> elements;  // as many as have codes, and one
  const auto see = [&](std::span<const std::int64_t> group, const Shared& shared) {
    const auto [least, greatest] = std::ranges::minmax(group);
    const Wide low = without(least, shared), high = without(greatest, shared);
    found.bits = std::max(
        found.bits, integer::type_for(std::min<Wide>(low, is_signed ? -1 : 0), high, 0).width);
    most = std::max(most, shared.power);
    for (const std::int64_t number : group)
      if (elements.size() <= std::size_t{1} << integer::most_level_bits)
        elements.insert(without(number, shared));
  };
  for_each_group(weights, simd, factored, see);
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
                std::int64_t simd, bool factored) {
  const Scaled scaled = scaled_weights(matrix.weight, simd, first.unit.weight_signed, factored);
  if (scaled.exponent_bits == 0) return;
  Formed way{first.unit, {.scaled = true, .factored = factored}};
  way.unit.set_weight_numbers();
  way.unit.weight_unit = std::nullopt;
  way.unit.weight_bits = scaled.bits;
  way.unit.weight_exponent = scaled.exponent_bits;
  if (factored) way.unit.weight_factor = factor_bits;
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
  unit.dot_bits = std::min<std::int64_t>(unit.sum_bits - unit.weight_unit.value_or(0), bits);
}

std::pair<double, double> dsp_and_luts(const Cost& cost) {
  return {cost.dsp, cost.lut + cost.carry};
}

}  // namespace

Formed cheapest_form(const StepBuilder& builder, const StepMatrix& matrix,
                     const MultiplyAccumulate& unit, const ProductShape& shape) {
  const int unit_bits = static_cast<int>(unit.weight_unit.value_or(0));
  std::vector<Formed> ways{{unit, {.unit = unit_bits, .code = matrix.weight_code}}};
  if (matrix.weight_code) {
    ways.push_back({unit, {.unit = unit_bits}});
    ways.back().unit.set_weight_numbers();
  }
  if (may_scale(builder, unit))
    for (const bool factored : {false, true})
      add_scaled(ways, matrix, Formed(ways.front()), shape.simd, factored);
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
  std::vector<Wide> held, scales;
  const auto code = [&](std::int64_t number) {
    return formed.form.code ? formed.form.code->code(number).value() : number;
  };
  const int bits = formed.unit.weight_bits;
  if (!formed.form.scaled) {
    for (const std::int64_t number : matrix.weight)
      held.push_back(formed.form.code ? code(number) : number >> formed.form.unit);
    return matrix_words(held, shape, simd, pe, bits);
  }
  const auto exponent_bits = static_cast<int>(formed.unit.weight_exponent.value());
  const auto see = [&](std::span<const std::int64_t> group, const Shared& shared) {
    for (const std::int64_t number : group) held.push_back(code(without(number, shared)));
    const std::int64_t factor = formed.form.factored ? shared.factor : 0;
    scales.push_back((factor << exponent_bits) + shared.power);
  };
  for_each_group(matrix.weight, simd, formed.form.factored, see);
  return matrix_words(held, scales, shape, simd, pe, bits,
                      static_cast<int>(formed.unit.weight_scale_bits()));
}

}  // namespace mase::design
