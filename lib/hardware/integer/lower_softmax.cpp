// SPDX-License-Identifier: Apache-2.0
// Lowering of softmax along rows, as steps that are exact each:
//
//   d = max(x) - x,  e = round(2^15 exp(-d)) from a table,  y = e / sum(e) rounded once.
//
// The largest element has e = 2^15, so that no row sums to 0. An entry is off by at most 2^-16 of
// it; with a row of n elements that moves y by at most (n + 1) 2^-17 before it is rounded.
#include <cmath>

#include "hardware/integer/row_steps.hpp"

namespace mase::integer {
namespace {

constexpr int exponential_frac = 15;
constexpr int most_bits = 12;

/// exp(-d) of every code of a type without sign.
Lookup exponentials(const FixedType& type) {
  Lookup lookup{"exp", {}};
  for (Wide code = 0; code <= type.high(); ++code) {
    const double exponent = -std::ldexp(static_cast<double>(code), -type.frac);
    lookup.table.push_back(std::llround(std::ldexp(std::exp(exponent), exponential_frac)));
  }
  return lookup;
}

Operand lower_softmax(const Call& call) {
  if (call.find("dtype")) throw Refusal{"a result of another type has no datapath"};
  call.needed_grid();
  const StreamView given = call.stream("self");
  const std::size_t dim = call.frame_dim("dim", -1, given.layout.torch_shape.size());
  const RowSteps rows(call, in_rows(call, given, dim));
  const StreamView& x = rows.x();
  const FixedType type = call.lowering.value(x.id).type;
  const Interval range = interval_of(type), distances{0, range.high - range.low};
  if (type.width > most_bits)
    throw Refusal{"its input has " + std::to_string(type.width) +
                  " bits, a table of exponentials at most " + std::to_string(most_bits) +
                  "; give it a narrower data_in format (pass quantize)"};
  const StreamView greatest = rows.repeated("max", rows.reduced("max", PoolKind::max, x, range));
  const StreamView distance = rows.each("distance", Binary{BinaryKind::subtract},
                                        {greatest.id, x.id}, {distances, type.frac});
  const StreamView power =
      rows.each("exp", exponentials(call.lowering.value(distance.id).type), {distance.id},
                {{0, Wide{1} << exponential_frac}, exponential_frac});
  const StreamView sum = rows.repeated(
      "sum",
      rows.reduced("sum", PoolKind::sum, power, {0, Wide{rows.length()} << exponential_frac}));
  return quotient(call, power, sum);
}

}  // namespace

std::vector<LoweringRow> softmax_rows() { return {{"softmax", lower_softmax}}; }

}  // namespace mase::integer
