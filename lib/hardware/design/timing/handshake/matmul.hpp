// SPDX-License-Identifier: Apache-2.0
// Handshake model of hw_templates/matrix/mase_matmul: a folded linear whose matrices come in a
// frame at a time.
#pragma once

#include "hardware/design/module_parameters.hpp"
#include "hardware/design/modules/row_passes.hpp"

namespace mase::design {

/// Rows of stream 0 move as in LinearHandshake, once stream 1 has delivered the matrices of their
/// frame. There is room for the matrices of two frames.
class MatmulHandshake final : public HandshakeOf<MatmulHandshake> {
 public:
  MatmulHandshake(const ModuleParameters& parameters, Stages kept);
  bool ready(int input) const override {
    return input == 1 ? full_ < 2 : pipe_.enable() && full_ > 0 && steps_.waits();
  }
  bool valid(int) const override { return pipe_.valid(); }
  std::int64_t quiet() const override { return steps_.quiet(pipe_); }
  void skip(std::int64_t edges) override {
    pipe_.skip(edges);
    steps_.skip(edges);
  }
  void clock(std::span<const std::uint8_t> taken, std::span<const std::uint8_t> given) override;
  bool operator==(const MatmulHandshake&) const = default;

 private:
  /// Whether a step was the last one of its frame.
  bool advance();

  RowSteps steps_;
  std::int64_t rows_, beats_;  ///< of a frame
  std::int64_t row_ = 0, beat_ = 0;
  int full_ = 0;  ///< frames of matrices that are there as a whole
  Pipe pipe_;     ///< of the steps that end a row of weights
};

}  // namespace mase::design
