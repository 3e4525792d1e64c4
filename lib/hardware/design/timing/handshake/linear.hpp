// SPDX-License-Identifier: Apache-2.0
// Handshake model of hw_templates/matrix/mase_linear: beats come in during the first of NF passes
// over a row only.
#pragma once

#include "hardware/design/module_parameters.hpp"
#include "hardware/design/timing/handshake/pipe.hpp"

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

/// Steps of a folded product: NF passes over the SF steps of a row, in the first of which its beats
/// come in. What ends a pass enters the pipeline.
class RowSteps {
 public:
  RowSteps(std::int64_t columns, std::int64_t passes) : columns_(columns), passes_(passes) {}
  bool waits() const { return pass_ == 0; }  ///< for beats
  bool ends_pass() const { return column_ == columns_ - 1; }
  bool step();  ///< whether it was the row's last one
  /// As those of a handshake model, with the pipeline behind: up to the end of a pass.
  std::int64_t quiet(const Pipe& pipe) const;
  void skip(std::int64_t edges) {
    if (!waits()) column_ += edges;
  }
  bool operator==(const RowSteps&) const = default;

 private:
  std::int64_t columns_, passes_;
  std::int64_t column_ = 0, pass_ = 0;
};

/// Without stalls the first output beat is SF + accumulate_stages cycles after the first input
/// beat, the last one SF * NF + accumulate_stages, and a row takes SF * NF cycles.
class LinearHandshake final : public HandshakeOf<LinearHandshake> {
 public:
  LinearHandshake(const ModuleParameters& parameters, Stages kept);
  bool ready(int) const override { return pipe_.enable() && steps_.waits(); }
  bool valid(int) const override { return pipe_.valid(); }
  std::int64_t quiet() const override { return steps_.quiet(pipe_); }
  void skip(std::int64_t edges) override {
    pipe_.skip(edges);
    steps_.skip(edges);
  }
  void clock(std::span<const std::uint8_t> taken, std::span<const std::uint8_t> given) override;
  bool operator==(const LinearHandshake&) const = default;

 private:
  RowSteps steps_;
  Pipe pipe_;  ///< of the steps that end a row of weights
};

}  // namespace mase::design
