// SPDX-License-Identifier: Apache-2.0
// Handshake model of hw_templates/matrix/mase_matmul: a folded linear whose matrices come in a
// frame at a time.
#pragma once

#include "hardware/design/handshake/pipe.hpp"
#include "hardware/design/module_parameters.hpp"

namespace mase::design {

/// Rows of stream 0 move as in LinearHandshake while the matrices of their frame, stream 1, are
/// there; two frames of these have room.
class MatmulHandshake final : public HandshakeOf<MatmulHandshake> {
 public:
  MatmulHandshake(const ModuleParameters& parameters, Stages kept);
  bool ready(int input) const override {
    return input == 1 ? full_ < 2 : pipe_.enable() && full_ > 0 && pass_ == 0;
  }
  bool valid(int) const override { return pipe_.valid(); }
  std::int64_t quiet() const override;
  void skip(std::int64_t edges) override;
  void clock(std::span<const std::uint8_t> taken, std::span<const std::uint8_t> given) override;
  bool operator==(const MatmulHandshake&) const = default;

 private:
  /// Whether a step was the last one of its frame.
  bool advance();

  std::int64_t columns_, passes_, rows_, beats_;  ///< of a row, of a frame
  std::int64_t column_ = 0, pass_ = 0, row_ = 0, beat_ = 0;
  int full_ = 0;  ///< frames of matrices that are there as a whole
  Pipe pipe_;     ///< of the steps that end a row of weights
};

}  // namespace mase::design
