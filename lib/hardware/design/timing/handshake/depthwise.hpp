// SPDX-License-Identifier: Apache-2.0
// Handshake model of hw_templates/matrix/mase_depthwise: N beats of a block of groups give one.
#pragma once

#include "hardware/design/module_parameters.hpp"
#include "hardware/design/modules/multiply_accumulate.hpp"
#include "hardware/design/timing/handshake/pipe.hpp"

namespace mase::design {

/// Without stalls the first output beat is N + accumulate_stages cycles after the first input beat,
/// and a block takes N cycles.
class DepthwiseHandshake final : public HandshakeOf<DepthwiseHandshake> {
 public:
  DepthwiseHandshake(const ModuleParameters& parameters, Stages kept)
      : beats_(parameters.integer("N")),
        pipe_(accumulate_stages(read_group<MultiplyAccumulate>(parameters),
                                parameters.integer("TAPS") * parameters.integer("CHANNELS")),
              kept) {}
  bool ready(int) const override { return pipe_.enable(); }
  bool valid(int) const override { return pipe_.valid(); }
  std::int64_t quiet() const override { return pipe_.quiet(); }
  void skip(std::int64_t edges) override { pipe_.skip(edges); }
  void clock(std::span<const std::uint8_t> taken, std::span<const std::uint8_t> given) override;
  bool operator==(const DepthwiseHandshake&) const = default;

 private:
  std::int64_t beats_;
  std::int64_t beat_ = 0;
  Pipe pipe_;  ///< of the beats that end a block
};

}  // namespace mase::design
