// SPDX-License-Identifier: Apache-2.0
// Lowering of softmax and log_softmax along rows, as steps that are exact each:
//
//   d = max(x) - x,  e = round(2^k exp(-d)) from a table,  y = e / sum(e) rounded once.
//
// The largest element has e = 2^k exactly, so that no row sums to 0. Another entry is off by at
// most half a step. With e off by a and the sum of a row of n elements by b, y is off by (a - y b)
// / sum: by at most (n - 1) 2^-(k+1) at the largest element, and by (n + 1) 2^-(k+2) at the others,
// of which y is at most 1/2. Both are at most n 2^-(k+1), before y is rounded. Inputs of more than
// 12 bits have exponentials in straight pieces, which are off by at most twice as much, those of
// the largest elements, too. Softmax has k = 15.
//
// Distances are clamped to where e is 0. Those of more than 16 bits then, as of fp8_e5m2, are
// rounded to 12 fraction bits (with k = 15), which moves e by at most 2^-13 of itself.
//
// log_softmax is y = x - (max(x) + log(s)), s = sum(e) 2^-k, rounded once. log(s) comes from tables
// of segments of s (see Segments). With a place of y the unit and g = `logarithm_guard`,
// exponentials from a table move y by at most 2^-g (k grows with n), the codes of s by 2^-g, and
// the results of all segments together by 2^-g. Results of more than 7 fraction bits would need
// more of s than it has: there its codes move y by up to 2^-4, and results of segments by 2^-5.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "base/error.hpp"
#include "hardware/integer/lowering/arithmetic.hpp"
#include "hardware/integer/lowering/call.hpp"
#include "hardware/integer/lowering/divide.hpp"
#include "hardware/integer/lowering/function_step.hpp"
#include "hardware/integer/lowering/lowering_table.hpp"
#include "hardware/integer/lowering/row_steps.hpp"

namespace mase::integer {
namespace {

constexpr int exponential_frac = 15;
constexpr int logarithm_guard = 10, least_logarithm_guard = 4;
constexpr int most_logarithm_bits = 18, most_logarithm_frac = 22, most_octaves = 5;

/// Whether a function of one input is 0 at these codes.
bool is_zero_in(const FunctionStep& function, const Interval& codes) {
  Codes inputs;
  for (Wide code = codes.low; code <= codes.high; ++code)
    inputs.push_back(static_cast<std::int64_t>(code));
  return std::ranges::all_of(function.results(inputs), [](std::int64_t code) { return code == 0; });
}

/// Clamps distances from the greatest element, of a type without sign, to the first whose
/// exponential is 0. A function in pieces gives 0 further away; it has all codes of its type, and
/// those of more bits than it reads are rounded.
Requantise clamped(Wide farthest, int frac, int exponential_frac) {
  const auto zero_from = [&](int bits) {  // far below half a place, for pieces
    const double zero = std::ldexp((exponential_frac + bits) * std::numbers::ln2, frac);
    return zero < static_cast<double>(farthest) ? static_cast<Wide>(zero) + 1 : farthest;
  };
  const Requantise table{0, 1, formats::Rounding::nearest_even, 0, zero_from(1)};
  const int given = type_for(0, farthest, 0).width;
  if (type_for(0, table.high, 0).width <= most_table_bits) return table;
  if (given <= most_function_bits) return exactly({0, farthest});
  const int width = type_for(0, zero_from(3), 0).width;
  const int shift = std::max(0, width - most_function_bits);
  return {shift, 1, formats::Rounding::nearest_even, 0, (Wide{1} << (width - shift)) - 1};
}

/// exp(-d) of every code of a type without sign, with `frac` fraction bits; 0 beyond `last`.
FunctionStep exponentials(const FixedType& type, int frac, Wide last) {
  std::vector<double> results;
  for (Wide code = 0; code <= type.high(); ++code)
    results.push_back(code > last ? 0
                                  : std::exp(-std::ldexp(static_cast<double>(code), -type.frac)));
  const Interval range{0, Wide{1} << frac};
  const FixedType codes = type_for(range.low, range.high, frac);
  return function_step("exp", results, {codes, formats::Rounding::nearest_even}, range, 1.0);
}

/// The maximum of every row, the exponentials of the distances from it, and their sum.
struct Exponentials {
  RowSteps rows;
  StreamView greatest, power, sum;
};

RowSteps rows_of(const Call& call) {
  call.check_type();
  call.needed_or_finer_grid();
  const StreamView given = call.stream("self");
  const std::size_t dim = call.frame_dim("dim", -1, given.layout.torch_shape.size());
  return {call, in_rows(call, given, dim)};
}

Exponentials exponentials_of(const Call& call, const RowSteps& rows, int frac) {
  const StreamView& x = rows.x();
  const FixedType type = call.lowering.value(x.id).type;
  const Masked* masks = call.lowering.masked(x.id);
  const Interval range = interval_of(type), others = masks ? masks->others : range;
  StreamView greatest = rows.reduced("max", PoolKind::max, x, range);
  if (masks)  // of a row of masks alone: one from which masks are as far as they should be
    greatest = rows.once("greatest", Cast{}, {greatest.id}, {range, type.frac}, others);
  const Wide span = others.high - others.low, to_masks = masks ? others.low - masks->code : 0;
  const Wide farthest = std::max(span, to_masks);
  const Requantise read = clamped(farthest, type.frac, frac);
  const StreamView distance =
      call.lowering.emit_before(call.node, "distance", Binary{BinaryKind::subtract},
                                {rows.repeated("max", greatest).id, x.id},
                                {{0, others.high - range.low}, type.frac}, read, x.layout);
  const FixedType distance_type = call.lowering.value(distance.id).type;
  FunctionStep function = exponentials(distance_type, frac, distance_type.high());
  const auto hides_masks = [&] { return is_zero_in(function, {read(to_masks), read.high}); };
  if (masks && read(to_masks) > read(span) && !hides_masks())
    function = exponentials(distance_type, frac, read(span));
  if (read.high < farthest >> read.shift)
    MASE_CHECK(is_zero_in(function, {read.high, read.high}), "elements far away would count");
  if (masks && !hides_masks())
    throw Refusal{"masks would not be 0, as its input has more than " +
                  std::to_string(most_table_bits) +
                  " bits; give it a narrower data_in format (pass quantize)"};
  const StreamView power = rows.each("exp", std::move(function), {distance.id});
  const StreamView sum =
      rows.reduced("sum", PoolKind::sum, power, {0, Wide{rows.length()} << frac});
  return {rows, greatest, power, sum};
}

Operand lower_softmax(const Call& call) {
  const Exponentials of = exponentials_of(call, rows_of(call), exponential_frac);
  return divide(call, of.power, of.rows.repeated("sum", of.sum), 1.0);
}

/// How the logarithm of a sum s >= 1 is found: octaves in segments of `octaves` each, of which
/// segment k has the codes of s 2^-(k octaves) with `frac` fraction bits, clamped to it. One table,
/// whose results have `result_frac`, serves all: log(s) is the sum of what the segments give.
struct Segments {
  int frac = 1, octaves = 1, count = 0, result_frac = 0;

  Wide first() const { return Wide{1} << frac; }
  Wide last() const { return (Wide{1} << (frac + octaves)) - 1; }
  /// What a code stands for. The last one stands for the beginning of the next segment and the
  /// first one for itself; those between are stretched to that, which moves none by a whole code.
  double inside(Wide code) const {
    const Wide place = std::clamp(code, first(), last()) - first();
    return std::ldexp(static_cast<double>(first() + place) +
                          static_cast<double>(place) / static_cast<double>(last() - first()),
                      -frac);
  }
};

/// The least b with 2^b >= n.
int octaves_in(std::int64_t n) { return std::bit_width(static_cast<std::uint64_t>(n - 1)); }

Segments segments_for(const Call& call, std::int64_t length) {
  const int result = call.needed_or_finer_grid().type.frac, most_frac = most_logarithm_bits - 1;
  if (result > most_frac - least_logarithm_guard)
    throw Refusal{"its result has " + std::to_string(result) +
                  " fraction bits, a table of logarithms gives at most " +
                  std::to_string(most_frac - least_logarithm_guard) +
                  "; give it fewer (pass quantize)"};
  const int wanted = std::max(result + logarithm_guard, 1), all = octaves_in(length);
  Segments segments{std::min(wanted, most_frac)};
  const int most = std::min(most_octaves, most_logarithm_bits - segments.frac);
  segments.count = (all + most - 1) / most;
  if (segments.count == 0) return segments;
  segments.octaves = (all + segments.count - 1) / segments.count;
  segments.result_frac = std::min(wanted + octaves_in(segments.count), most_logarithm_frac);
  return segments;
}

/// Fraction bits of the exponentials that the logarithm of their sum needs; pieces reach no more
/// than those of softmax.
int exponential_frac_for(const Call& call, const RowSteps& rows) {
  const bool pieces = call.lowering.value(rows.x().id).type.width > most_table_bits;
  const int needed = std::max(
      call.needed_or_finer_grid().type.frac + logarithm_guard + octaves_in(rows.length()) - 1, 1);
  return pieces ? std::min(needed, exponential_frac) : needed;
}

/// The logarithm of what every code of a segment stands for.
FunctionStep logarithms(const Segments& segments) {
  std::vector<double> results;
  for (Wide code = 0; code <= segments.last(); ++code)
    results.push_back(std::log(segments.inside(code)));
  const int frac = segments.result_frac;
  const Interval range{0, std::llround(std::ldexp(results.back(), frac))};
  return function_step("log", results, {type_for(range.low, range.high, frac)}, range, 1.0);
}

/// The sum of two streams of one element for every row, exactly.
StreamView added(const Call& call, const RowSteps& rows, const std::string& name,
                 const StreamView& a, const StreamView& b) {
  const FixedType left = call.lowering.value(a.id).type, right = call.lowering.value(b.id).type;
  const int frac = std::max(left.frac, right.frac);
  const Interval x = shifted(interval_of(left), frac - left.frac);
  const Interval y = shifted(interval_of(right), frac - right.frac);
  return rows.once(name, Binary{BinaryKind::add, frac - left.frac, frac - right.frac}, {a.id, b.id},
                   {{x.low + y.low, x.high + y.high}, frac});
}

/// What segment k gives of the logarithm of the sum of every row.
StreamView segment(const Call& call, const Exponentials& of, const Segments& segments,
                   const FunctionStep& table, int k) {
  const std::string name = "log_" + std::to_string(k);
  const FixedType type = call.lowering.value(of.sum.id).type;
  const int shift = type.frac - (segments.frac - k * segments.octaves);
  const Requantise requantise{shift, 1, formats::Rounding::nearest_even, segments.first(),
                              segments.last()};
  const StreamView part =
      call.lowering.emit_before(call.node, name + "_part", Cast{}, {of.sum.id},
                                {interval_of(type), type.frac}, requantise, of.rows.results());
  return of.rows.once(name, table, {part.id});
}

/// max(x) + log(sum) of every row.
StreamView norm_of(const Call& call, const Exponentials& of, const Segments& segments) {
  if (segments.count == 0) return of.greatest;
  const FunctionStep table = logarithms(segments);
  StreamView norm = of.greatest;
  for (int k = 0; k < segments.count; ++k)
    norm = added(call, of.rows, "norm_" + std::to_string(k), norm,
                 segment(call, of, segments, table, k));
  return norm;
}

Operand lower_log_softmax(const Call& call) {
  const RowSteps rows = rows_of(call);
  const Exponentials of = exponentials_of(call, rows, exponential_frac_for(call, rows));
  const StreamView norm = norm_of(call, of, segments_for(call, rows.length()));
  return combined(call, BinaryKind::subtract, rows.x(), rows.repeated("norm", norm));
}

}  // namespace

std::vector<LoweringRow> softmax_rows() {
  return {{"softmax", lower_softmax}, {"log_softmax", lower_log_softmax}};
}

}  // namespace mase::integer
