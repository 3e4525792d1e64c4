// SPDX-License-Identifier: Apache-2.0
// A multiply-accumulate whose outputs read operands of their own.
#include "hardware/design/modules/depthwise.hpp"

#include "hardware/design/building/step_matrix.hpp"
#include "hardware/design/modules/primitives.hpp"
#include "hardware/design/timing/handshake/pipe.hpp"

namespace mase::design {
namespace {

/// Without stalls the first output beat is N + accumulate_stages cycles after the first input beat,
/// and a block takes N cycles.
class DepthwiseHandshake final : public HandshakeOf<DepthwiseHandshake> {
 public:
  DepthwiseHandshake(const DepthwiseModule& depthwise, Stages kept)
      : beats_(depthwise.beats),
        pipe_(accumulate_stages(depthwise, depthwise.shape().simd), kept) {}
  bool ready(int) const override { return pipe_.enable(); }
  bool valid(int) const override { return pipe_.valid(); }
  std::int64_t quiet() const override { return pipe_.quiet(); }
  void skip(std::int64_t edges) override { pipe_.skip(edges); }
  void clock(Moves taken, Moves given) override {
    const bool block_end = beat_ == beats_ - 1;
    pipe_.step(taken[0] != 0 && block_end, given[0] != 0);
    if (taken[0] != 0) beat_ = block_end ? 0 : beat_ + 1;
  }
  bool operator==(const DepthwiseHandshake&) const = default;

 private:
  std::int64_t beats_;
  std::int64_t beat_ = 0;
  Pipe pipe_;  ///< of the beats that end a block
};

}  // namespace

StreamId add_groups(StepBuilder& builder, std::int64_t taps, StreamId in) {
  const auto& conv = std::get<integer::Convolution>(builder.step.operation);
  const std::int64_t pe = builder.fold.out_lanes, outputs = conv.outputs / conv.groups,
                     channels = conv.taps(), groups = pe / outputs;
  const MatrixShape shape{conv.groups / groups, pe, conv.columns()};
  const DepthwiseModule module{multiply_accumulate_of(builder, shape, taps * channels, pe, groups),
                               conv.window.kernel() / taps,
                               shape.sets,
                               groups,
                               taps,
                               channels,
                               outputs};
  return builder.finish(module, {in}, pe);
}

std::unique_ptr<Handshake> DepthwiseModule::handshake(Stages kept) const {
  return std::make_unique<DepthwiseHandshake>(*this, kept);
}

Cost DepthwiseModule::cost(const Design& design) const {
  Cost cost = multiply_accumulate_cost(design, *this, shape());
  cost.ff += static_cast<double>(groups * taps * channels * in_bits);
  cost += skid_cost(groups * outputs * out_bits);
  return cost;
}

Paths DepthwiseModule::paths(const Technology& technology) const {
  return multiply_accumulate_paths(*this, shape(), technology);
}

ModuleRow DepthwiseModule::row() {
  return row_of_module<DepthwiseModule>({.folder = "matrix",
                                         .doc = "own weights for every group of channels",
                                         .uses = {"mase_multiply_accumulate"},
                                         .reloads = true,
                                         .set_stages = set_stages<DepthwiseModule>,
                                         .inputs = {"in"},
                                         .outputs = {"out"}});
}

}  // namespace mase::design
