// SPDX-License-Identifier: Apache-2.0
// A tree over the lanes, and the best of the beats so far.
#include "hardware/design/modules/argmax.hpp"

#include <bit>

#include "hardware/design/modules/paths.hpp"
#include "hardware/design/modules/primitives.hpp"
#include "hardware/design/step_table.hpp"
#include "hardware/design/timing/handshake/pool.hpp"

namespace mase::design {
namespace {

std::int64_t argmax_row(const Step& step) { return std::get<integer::Argmax>(step.operation).row; }

FoldRule argmax_rule(const Program&, const Step& step, const Fold&) {
  return {argmax_row(step), 1};
}

StreamId add_argmax(StepBuilder& builder, const std::vector<StreamId>& inputs) {
  const integer::FixedType& in = builder.input().type;
  const std::int64_t lanes = builder.fold.in_lanes;
  const ArgmaxModule module{.beats = argmax_row(builder.step) / lanes,
                            .lanes = lanes,
                            .in_bits = in.width,
                            .in_signed = in.is_signed,
                            .out_bits = builder.output().type.width};
  return builder.finish(module, inputs, 1);
}

/// The tree over the lanes: where two meet a comparison, the choice of a value that is compared
/// again, and the place below, whose highest bit is the comparison itself.
Cost argmax_tree_cost(const ArgmaxModule& argmax) {
  const auto width = static_cast<double>(argmax.in_bits);
  Cost cost;
  std::int64_t left = argmax.lanes;
  for (std::int64_t level = 1; left > 1; ++level) {
    const auto pairs = static_cast<double>(left / 2), below = static_cast<double>(level - 1);
    left = ceiling(left, 2);
    const double kept = left > 1 || argmax.beats > 1 ? width : 0;
    cost += scaled({.lut = fitted.comparison_bit * width + kept + below, .carry = 1}, pairs);
    cost.ff += static_cast<double>(left) * (kept + below + 1) + 1;
  }
  return cost;
}

}  // namespace

std::unique_ptr<Handshake> ArgmaxModule::handshake(Stages kept) const {
  return std::make_unique<PoolHandshake>(1, beats, 1, 1, beats, kept, log2_ceiling(lanes) + 1);
}

Cost ArgmaxModule::cost(const Design&) const {
  Cost cost = skid_cost(out_bits);
  cost += argmax_tree_cost(*this);
  cost.ff += static_cast<double>(out_bits + 1);
  if (beats == 1) return cost;
  // The register's enable chooses, so that only the comparison and the count take LUTs.
  cost.lut += fitted.comparison_bit * static_cast<double>(in_bits) + 4;
  cost.carry += 1;
  cost += counter_cost(beats);
  if (!std::has_single_bit(static_cast<std::uint64_t>(lanes)))
    cost += adder_cost(out_bits);  // of the place in the row and that in the beat
  cost.ff += static_cast<double>(in_bits + 1);
  return cost;
}

/// A comparison whose result chooses value and place, in the tree or with the row's best so far.
Paths ArgmaxModule::paths(const Technology& technology) const {
  const Path larger{.what = "comparison",
                    .luts = 2,
                    .chains = 1,
                    .carry = static_cast<double>(in_bits),
                    .readers = static_cast<double>(in_bits + out_bits)};
  return {larger, counter_path(beats, technology)};
}

StepRow ArgmaxModule::step() {
  return {"argmax", argmax_rule, fold_lanes, input_interval, nullptr, add_argmax};
}

ModuleRow ArgmaxModule::row() {
  return row_of_module<ArgmaxModule>({.folder = "window",
                                      .doc = "place of the largest element",
                                      .uses = {"mase_skid"},
                                      .inputs = {"in"},
                                      .outputs = {"out"}});
}

}  // namespace mase::design
