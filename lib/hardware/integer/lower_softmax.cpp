// SPDX-License-Identifier: Apache-2.0
// Lowering of softmax along rows, as steps that are exact each:
//
//   d = max(x) - x,  e = round(2^15 exp(-d)) from a table,  y = e / sum(e) rounded once.
//
// The largest element has e = 2^15, so that no row sums to 0. An entry is off by at most 2^-16 of
// it; with a row of n elements that moves y by at most (n + 1) 2^-17 before it is rounded.
#include <cmath>

#include "hardware/integer/lowering.hpp"

namespace mase::integer {
namespace {

using Index = std::int64_t;

constexpr int exponential_frac = 15;
constexpr int most_bits = 12;

/// The stream in an order that has torch dimension `dim` innermost.
StreamView innermost(const Call& call, StreamView x, std::size_t dim) {
  if (is_innermost(x.layout, dim)) return x;
  const Shape& frame = x.layout.torch_shape;
  std::vector<std::size_t> dims;
  for (std::size_t d = 0; d < frame.size(); ++d)
    if (d != dim) dims.push_back(d);
  dims.push_back(dim);
  const Index rows = numel(frame) / frame[dim];
  // The stream's order is that of the permuted tensor, each element named by its own place.
  const std::vector<Index> order = places_of(permuted(row_major(frame), dims));
  return call.lowering.reordered(x, {{rows, frame[dim]}, frame, order}, call.node, "self");
}

/// Streams of rows before the node's own step.
class RowSteps {
 public:
  RowSteps(const Call& call, const Layout& elements, std::size_t dim)
      : call_(call),
        elements_(elements),
        results_(with_innermost(elements, dim, 1)),
        row_(elements.torch_shape[dim]) {}

  /// The maximum or sum of every row, once for each of its elements.
  StreamView reduced(PoolKind kind, const StreamView& x, const Interval& range,
                     const std::string& name) const {
    const int frac = call_.lowering.value(x.id).type.frac;
    const StreamView once = call_.lowering.emit_before(
        call_.node, name, RowReduce{kind, row_}, {x.id}, {range, frac}, exactly(range), results_);
    return call_.lowering.emit_before(call_.node, name + "_repeat", Repeat{row_}, {once.id},
                                      {range, frac}, exactly(range), elements_);
  }
  StreamView step(const std::string& name, Operation operation, std::vector<ValueId> inputs,
                  const Interval& range, int frac) const {
    return call_.lowering.emit_before(call_.node, name, std::move(operation), std::move(inputs),
                                      {range, frac}, exactly(range), elements_);
  }
  Index row() const { return row_; }

 private:
  const Call& call_;
  Layout elements_, results_;
  Index row_;
};

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
  if (!call.lowering.target(call.node))
    call.lowering.refuse_grid(
        call.node,
        "its result needs a grid; give it a data_out format, or all its readers the same data_in "
        "format (pass quantize)");
  StreamView x = call.stream("self");
  x.layout = call.lowering.layout_of(x);
  const std::size_t dim = call.frame_dim("dim", -1, x.layout.torch_shape.size());
  x = innermost(call, x, dim);
  const FixedType type = call.lowering.value(x.id).type;
  const Interval range = interval_of(type), distances{0, range.high - range.low};
  if (type.width > most_bits)
    throw Refusal{"its input has " + std::to_string(type.width) +
                  " bits, a table of exponentials at most " + std::to_string(most_bits) +
                  "; give it a narrower data_in format (pass quantize)"};
  const RowSteps rows(call, x.layout, dim);
  const StreamView greatest = rows.reduced(PoolKind::max, x, range, "max");
  const StreamView distance = rows.step("distance", Binary{BinaryKind::subtract},
                                        {greatest.id, x.id}, distances, type.frac);
  const StreamView power =
      rows.step("exp", exponentials(call.lowering.value(distance.id).type), {distance.id},
                {0, Wide{1} << exponential_frac}, exponential_frac);
  const StreamView sum =
      rows.reduced(PoolKind::sum, power, {0, Wide{rows.row()} << exponential_frac}, "sum");
  return quotient(call, power, sum);
}

}  // namespace

std::vector<LoweringRow> softmax_rows() { return {{"softmax", lower_softmax}}; }

}  // namespace mase::integer
