// SPDX-License-Identifier: Apache-2.0
// Lowering of softmax and log_softmax along rows, as steps that are exact each:
//
//   d = max(x) - x,  e = round(2^15 exp(-d)) from a table,  y = e / sum(e) rounded once.
//
// The largest element has e = 2^15, so that no row sums to 0. An entry is off by at most 2^-16;
// with a row of n elements that moves y by at most (n + 1) 2^-17 before it is rounded. Inputs of
// more than 12 bits have exponentials in straight pieces, which are off by at most twice as much,
// those of the largest elements, too.
//
// log_softmax is y = x - (max(x) + log(s)), s = sum(e) 2^-15, rounded once. log(s) comes from
// tables of segments of s (see Segments) whose codes have 2 fraction bits more than y where that is
// many enough: rounding s to one moves y by at most a quarter of a place, the exponentials by at
// most (n - 1) 2^-16, each table's entries by 2^-16.
#include <algorithm>
#include <cmath>

#include "hardware/integer/function_step.hpp"
#include "hardware/integer/row_steps.hpp"

namespace mase::integer {
namespace {

constexpr int exponential_frac = 15;
constexpr int most_logarithm_bits = 12;

/// exp(-d) of every code of a type without sign.
FunctionStep exponentials(const FixedType& type) {
  std::vector<double> results;
  for (Wide code = 0; code <= type.high(); ++code)
    results.push_back(std::exp(-std::ldexp(static_cast<double>(code), -type.frac)));
  const Interval range{0, Wide{1} << exponential_frac};
  const FixedType codes = type_for(range.low, range.high, exponential_frac);
  return function_step("exp", results, {codes, formats::Rounding::nearest_even}, range, 1.0);
}

/// Of every row: its maximum, the exponentials of the distances from it, and their sum.
struct Exponentials {
  RowSteps rows;
  StreamView greatest, power, sum;
};

Exponentials exponentials_of(const Call& call) {
  if (call.find("dtype")) throw Refusal{"a result of another type has no datapath"};
  call.needed_grid();
  const StreamView given = call.stream("self");
  const std::size_t dim = call.frame_dim("dim", -1, given.layout.torch_shape.size());
  const RowSteps rows(call, in_rows(call, given, dim));
  const StreamView& x = rows.x();
  const FixedType type = call.lowering.value(x.id).type;
  const Interval range = interval_of(type), distances{0, range.high - range.low};
  check_function_input(type);
  const StreamView greatest = rows.reduced("max", PoolKind::max, x, range);
  const StreamView distance =
      rows.each("distance", Binary{BinaryKind::subtract}, {rows.repeated("max", greatest).id, x.id},
                {distances, type.frac});
  const StreamView power =
      rows.each("exp", exponentials(call.lowering.value(distance.id).type), {distance.id});
  const StreamView sum =
      rows.reduced("sum", PoolKind::sum, power, {0, Wide{rows.length()} << exponential_frac});
  return {rows, greatest, power, sum};
}

Operand lower_softmax(const Call& call) {
  const Exponentials of = exponentials_of(call);
  return quotient(call, of.power, of.rows.repeated("sum", of.sum));
}

/// How the logarithm of a sum s >= 1 is found: octaves in segments of `octaves` each, of which
/// segment k has the codes of s 2^-(k octaves) with `frac` fraction bits, clamped to it. One table
/// serves all: log(s) is the sum of what the segments give.
struct Segments {
  int frac = 1, octaves = 1, count = 0;

  Wide first() const { return Wide{1} << frac; }
  Wide last() const { return Wide{1} << (frac + octaves); }
};

Segments segments_for(const Call& call, std::int64_t length) {
  const int result = call.needed_grid().type.frac;
  Segments segments{std::max(result + 1, 3)};
  if (segments.frac >= most_logarithm_bits - 1)
    throw Refusal{"its result has " + std::to_string(result) +
                  " fraction bits, a table of logarithms gives at most " +
                  std::to_string(most_logarithm_bits - 3) + "; give it fewer (pass quantize)"};
  segments.octaves = std::max(1, most_logarithm_bits - 3 - segments.frac);
  while (std::int64_t{1} << std::min(62, segments.count * segments.octaves) < length)
    ++segments.count;
  return segments;
}

/// log(code / first) of every code of a type.
Lookup logarithms(const Segments& segments, const FixedType& type) {
  Lookup lookup{"log", {}};
  for (Wide code = 0; code <= type.high(); ++code) {
    const Wide inside = std::clamp(code, segments.first(), segments.last());
    const double ratio = std::ldexp(static_cast<double>(inside), -segments.frac);
    lookup.table.push_back(std::llround(std::ldexp(std::log(ratio), exponential_frac)));
  }
  return lookup;
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
StreamView segment(const Call& call, const Exponentials& of, const Segments& segments, int k) {
  const std::string name = "log_" + std::to_string(k);
  const FixedType type = call.lowering.value(of.sum.id).type;
  const int shift = exponential_frac - (segments.frac - k * segments.octaves);
  const Requantise requantise{shift, 1, formats::Rounding::nearest_even, segments.first(),
                              segments.last()};
  const StreamView part =
      call.lowering.emit_before(call.node, name + "_part", Cast{}, {of.sum.id},
                                {interval_of(type), type.frac}, requantise, of.rows.results());
  Lookup table = logarithms(segments, call.lowering.value(part.id).type);
  const Interval range{0, *std::ranges::max_element(table.table)};
  return of.rows.once(name, std::move(table), {part.id}, {range, exponential_frac});
}

/// x - (max(x) + log(sum)).
Operand lower_log_softmax(const Call& call) {
  const Exponentials of = exponentials_of(call);
  const Segments segments = segments_for(call, of.rows.length());
  StreamView norm = of.greatest;
  for (int k = 0; k < segments.count; ++k)
    norm = added(call, of.rows, "norm_" + std::to_string(k), norm, segment(call, of, segments, k));
  return combined(call, BinaryKind::subtract, of.rows.x(), of.rows.repeated("norm", norm));
}

}  // namespace

std::vector<LoweringRow> softmax_rows() {
  return {{"softmax", lower_softmax}, {"log_softmax", lower_log_softmax}};
}

}  // namespace mase::integer
