// SPDX-License-Identifier: Apache-2.0
// Finding rows in a stream, and the steps on them.
#include "hardware/integer/lowering/row_steps.hpp"

#include <algorithm>
#include <numeric>

#include "hardware/integer/lowering/call.hpp"
#include "hardware/integer/lowering/function_step.hpp"
#include "hardware/integer/lowering/movement.hpp"

namespace mase::integer {
namespace {

using Index = std::int64_t;

/// Whether elements that belong to one row come one after another.
bool lie_in_rows(const std::vector<Index>& order, const std::vector<Index>& row_of, Index length) {
  for (std::size_t i = 0; i < order.size(); ++i)
    if (row_of[at(order[i])] != row_of[at(order[i - i % at(length)])]) return false;
  return true;
}

/// The rows of torch's order, and in each the elements as torch has them.
Layout row_after_row(const Shape& frame, const std::vector<Index>& row_of, Index length) {
  Layout layout{{numel(frame) / length, length}, frame, row_major(frame).order};
  std::ranges::stable_sort(layout.order, {}, [&](Index element) { return row_of[at(element)]; });
  return layout;
}

Layout results_of(const Layout& x, const std::vector<Index>& row_of, const Shape& kept,
                  Index length) {
  std::vector<Index> order;
  for (std::size_t i = 0; i < x.order.size(); i += at(length))
    order.push_back(row_of[at(x.order[i])]);
  Layout results = arranged(std::move(order), kept);
  if (x.shape.size() > 2 && x.shape.back() == length) {  // pixels of one channel
    results.shape = x.shape;
    results.shape.back() = 1;
  }
  return results;
}

}  // namespace

RowStream in_rows(const Call& call, const StreamView& x, const std::vector<bool>& reduced) {
  const Shape frame = x.layout.torch_shape;
  Shape kept = frame;
  Index length = 1;
  for (std::size_t d = 0; d < frame.size(); ++d)
    if (reduced[d]) length *= std::exchange(kept[d], 1);
  const std::vector<Index> row_of =
      moved_elements(kept, frame, [&](std::size_t d, Index i) { return reduced[d] ? 0 : i; });
  StreamView rows{x.id, call.lowering.layout_of(x)};
  if (!lie_in_rows(rows.layout.order, row_of, length))
    rows = call.lowering.reordered(x, row_after_row(frame, row_of, length), call.node, "self");
  Layout results = results_of(rows.layout, row_of, kept, length);
  return {std::move(rows), length, std::move(results)};
}

RowStream in_rows(const Call& call, const StreamView& x, std::size_t dim) {
  std::vector<bool> reduced(x.layout.torch_shape.size(), false);
  reduced[dim] = true;
  return in_rows(call, x, reduced);
}

StreamView RowSteps::each(const std::string& name, Operation operation, std::vector<ValueId> inputs,
                          const Accumulator& accumulator, const Interval& range) const {
  return call_.lowering.emit_before(call_.node, name, std::move(operation), std::move(inputs),
                                    accumulator, exactly(range), rows_.x.layout);
}

StreamView RowSteps::each(const std::string& name, Operation operation, std::vector<ValueId> inputs,
                          const Accumulator& accumulator) const {
  return each(name, std::move(operation), std::move(inputs), accumulator, accumulator.range);
}

StreamView RowSteps::each(const std::string& name, FunctionStep function,
                          std::vector<ValueId> inputs) const {
  return call_.lowering.emit_before(call_.node, name, std::move(function.operation),
                                    std::move(inputs), function.accumulator, function.requantise,
                                    rows_.x.layout);
}

StreamView RowSteps::once(const std::string& name, Operation operation, std::vector<ValueId> inputs,
                          const Accumulator& accumulator, const Interval& range) const {
  return call_.lowering.emit_before(call_.node, name, std::move(operation), std::move(inputs),
                                    accumulator, exactly(range), rows_.results);
}

StreamView RowSteps::once(const std::string& name, Operation operation, std::vector<ValueId> inputs,
                          const Accumulator& accumulator) const {
  return once(name, std::move(operation), std::move(inputs), accumulator, accumulator.range);
}

StreamView RowSteps::once(const std::string& name, FunctionStep function,
                          std::vector<ValueId> inputs) const {
  return call_.lowering.emit_before(call_.node, name, std::move(function.operation),
                                    std::move(inputs), function.accumulator, function.requantise,
                                    rows_.results);
}

StreamView RowSteps::reduced(const std::string& name, PoolKind kind, const StreamView& x,
                             const Interval& range) const {
  const int frac = call_.lowering.value(x.id).type.frac;
  return once(name, RowReduce{kind, rows_.length}, {x.id}, {range, frac});
}

StreamView RowSteps::repeated(const std::string& name, const StreamView& once) const {
  const FixedType type = call_.lowering.value(once.id).type;
  return each(name + "_repeat", Repeat{rows_.length}, {once.id}, {interval_of(type), type.frac});
}

}  // namespace mase::integer
