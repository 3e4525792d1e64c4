// SPDX-License-Identifier: Apache-2.0
// A tree over the lanes, and the result of the beats so far.
#include "hardware/design/modules/row_reduce.hpp"

#include <algorithm>

#include "hardware/design/modules/paths.hpp"
#include "hardware/design/modules/primitives.hpp"
#include "hardware/design/step_table.hpp"
#include "hardware/design/timing/handshake/pool.hpp"

namespace mase::design {
namespace {

const integer::RowReduce& reduction_of(const Step& step) {
  return std::get<integer::RowReduce>(step.operation);
}

FoldRule row_reduce_rule(const Program&, const Step& step, const Fold&) {
  return {reduction_of(step).row, 1};
}

RowResult result_of(const integer::RowReduce& reduce) {
  if (reduce.of_magnitudes) return RowResult::peak;
  return reduce.kind == integer::PoolKind::sum ? RowResult::sum : RowResult::maximum;
}

StreamId add_row_reduce(StepBuilder& builder, const std::vector<StreamId>& inputs) {
  const integer::RowReduce& reduce = reduction_of(builder.step);
  const integer::FixedType& in = builder.input().type;
  const std::int64_t lanes = builder.fold.in_lanes;
  const RowReduceModule module{.beats = reduce.row / lanes,
                               .lanes = lanes,
                               .in_bits = in.width,
                               .in_signed = in.is_signed,
                               .result = static_cast<int>(result_of(reduce)),
                               .out_bits = builder.output().type.width};
  return builder.finish(module, inputs, 1);
}

}  // namespace

std::unique_ptr<Handshake> RowReduceModule::handshake(Stages kept) const {
  return std::make_unique<PoolHandshake>(1, beats, 1, 1, beats, kept, log2_ceiling(lanes) + 1);
}

Cost RowReduceModule::cost(const Design&) const {
  Cost cost = skid_cost(out_bits);
  std::int64_t left = lanes, bits = in_bits;
  const auto join = [&](std::int64_t of) { return sums() ? adder_cost(of) : choice_cost(of); };
  if (in_signed && result == static_cast<int>(RowResult::peak))
    cost += scaled(adder_cost(in_bits), static_cast<double>(lanes));
  while (left > 1) {
    if (sums()) bits = std::min<std::int64_t>(bits + 1, out_bits);
    cost += scaled(join(bits), static_cast<double>(left / 2));
    left = ceiling(left, 2);
    cost.ff += static_cast<double>(left * bits) + 1;
  }
  cost.ff += static_cast<double>(out_bits + 1);
  if (beats == 1) return cost;
  cost += join(out_bits);
  cost += counter_cost(beats);
  return cost;
}

Paths RowReduceModule::paths(const Technology& technology) const {
  const auto bits = static_cast<double>(out_bits);
  const Path join{.what = "row", .luts = 1, .chains = 1, .carry = bits, .readers = bits};
  return {join, counter_path(beats, technology)};
}

StepRow RowReduceModule::step() {
  return {"row_reduce", row_reduce_rule, fold_lanes, input_interval, nullptr, add_row_reduce};
}

ModuleRow RowReduceModule::row() {
  return row_of_module<RowReduceModule>({.folder = "window",
                                         .doc = "maximum or sum of a row",
                                         .uses = {"mase_skid"},
                                         .inputs = {"in"},
                                         .outputs = {"out"}});
}

}  // namespace mase::design
