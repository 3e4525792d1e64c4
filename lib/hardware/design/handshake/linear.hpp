// SPDX-License-Identifier: Apache-2.0
// Handshake model of hw_templates/matrix/mase_linear: beats come in during the first of NF passes
// over a row only.
#pragma once

#include "hardware/design/handshake/pipe.hpp"
#include "hardware/design/module_parameters.hpp"

namespace mase::design {

/// OPERAND_STAGES, PRODUCT_STAGES and WEIGHT_STAGES of an instance, which says them where there are
/// any.
std::int64_t operand_stages(const ModuleParameters& parameters);
std::int64_t product_stages(const ModuleParameters& parameters);
std::int64_t weight_stages(const ModuleParameters& parameters);

/// Registers of hw_templates/matrix/mase_multiply_accumulate between a step and the skid at its
/// end: those on the operands' way, the word read, operands, products, those behind them, the
/// additions of mase_dot, what mase_dot_packed takes off, the accumulator and rounding.
int accumulate_stages(const ModuleParameters& parameters, std::int64_t simd);

/// Without stalls the first output beat is SF + accumulate_stages cycles after the first input
/// beat, the last one SF * NF + accumulate_stages, and a row takes SF * NF cycles.
class LinearHandshake final : public HandshakeOf<LinearHandshake> {
 public:
  LinearHandshake(const ModuleParameters& parameters, Stages kept);
  bool ready(int) const override { return pipe_.enable() && pass_ == 0; }
  bool valid(int) const override { return pipe_.valid(); }
  std::int64_t quiet() const override;
  void skip(std::int64_t edges) override;
  void clock(std::span<const std::uint8_t> taken, std::span<const std::uint8_t> given) override;
  bool operator==(const LinearHandshake&) const = default;

 private:
  std::int64_t columns_, passes_;
  std::int64_t column_ = 0, pass_ = 0;
  Pipe pipe_;  ///< of the steps that end a row of weights
};

}  // namespace mase::design
