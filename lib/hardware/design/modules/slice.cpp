// SPDX-License-Identifier: Apache-2.0
// A skid behind a counter.
#include "hardware/design/modules/slice.hpp"

#include <algorithm>
#include <numeric>

#include "hardware/design/modules/paths.hpp"
#include "hardware/design/modules/primitives.hpp"
#include "hardware/design/step_table.hpp"
#include "hardware/design/timing/handshake/pipe.hpp"

namespace mase::design {
namespace {

/// slice: of every `beats` beats passes `count` from `first` on.
class SliceHandshake final : public HandshakeOf<SliceHandshake> {
 public:
  SliceHandshake(std::int64_t beats, std::int64_t first, std::int64_t count)
      : beats_(beats), first_(first), count_(count) {}
  std::int64_t quiet() const override { return forever; }
  bool ready(int) const override { return skid_.ready(); }
  bool valid(int) const override { return skid_.valid(); }
  void clock(Moves taken, Moves given) override {
    const bool inside = index_ >= first_ && index_ < first_ + count_;
    skid_.step(taken[0] != 0 && inside, given[0] != 0);
    if (taken[0] != 0) count_up(index_, beats_);
  }
  bool operator==(const SliceHandshake&) const = default;

 private:
  std::int64_t beats_, first_, count_, index_ = 0;
  Skid skid_;
};

FoldRule slice_rule(const Program&, const Step& step, const Fold&) {
  const auto& slice = std::get<integer::Slice>(step.operation);
  return same_lanes(std::gcd(slice.period, std::gcd(slice.first, slice.count)));
}

StreamId add_slice(StepBuilder& builder, const std::vector<StreamId>& inputs) {
  const auto& slice = std::get<integer::Slice>(builder.step.operation);
  const std::int64_t lanes = builder.fold.in_lanes;
  const SliceModule module{.width = lanes * builder.output().type.width,
                           .beats = slice.period / lanes,
                           .first = slice.first / lanes,
                           .count = slice.count / lanes};
  return builder.finish(module, inputs, lanes);
}

}  // namespace

std::unique_ptr<Handshake> SliceModule::handshake(Stages) const {
  return std::make_unique<SliceHandshake>(beats, first, count);
}

Cost SliceModule::cost(const Design&) const {
  const int index = std::max(1, log2_ceiling(beats));
  Cost cost = skid_cost(width);
  cost.lut += std::max(0, 2 * index - 2);
  cost.ff += index;
  cost.carry += 2 * carry_chain(index);
  return cost;
}

Paths SliceModule::paths(const Technology& technology) const {
  Path inside = counter_path(beats, technology);
  inside.what = "place in the row";
  inside.luts += 1;
  return {inside};
}

StepRow SliceModule::step() {
  return {"slice", slice_rule, fold_lanes, input_interval, nullptr, add_slice};
}

ModuleRow SliceModule::row() {
  return row_of_module<SliceModule>({.folder = "plumbing",
                                     .doc = "some beats of a row",
                                     .uses = {"mase_skid"},
                                     .inputs = {"in"},
                                     .outputs = {"out"}});
}

}  // namespace mase::design
