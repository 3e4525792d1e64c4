// SPDX-License-Identifier: Apache-2.0
// Faults: single flipped bits of a program's constants, and which frames show them.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.hpp"
#include "hardware/integer/interpreter.hpp"
#include "hardware/integer/steps/constants.hpp"

namespace mase::integer {

/// One bit of a constant, in two's complement of its width.
struct ConstantBit {
  std::size_t step = 0;  ///< of Program::steps
  ConstantKind kind = ConstantKind::factor;
  std::int64_t index = 0;
  int bit = 0;
  bool operator==(const ConstantBit&) const = default;
};

/// All bits of the constants of a program.
class ConstantBits {
 public:
  explicit ConstantBits(const Program& program);
  std::int64_t count() const { return count_; }
  /// One of them, each as often as any other. There are some.
  ConstantBit draw(Random& random) const;
  /// One of the constants of a step and kind, each step and kind as often as any other.
  ConstantBit draw_evenly(Random& random) const;

 private:
  struct Run {
    std::size_t step;
    ConstantKind kind;
    int width;
    std::int64_t first, bits;

    ConstantBit at(std::int64_t place) const;
  };
  std::vector<Run> runs_;
  std::int64_t count_ = 0;
};

/// The step with that bit flipped, and the bounds that follow from it.
Step flipped(const Program& program, const ConstantBit& bit);

/// Runs frames with one bit flipped at a time.
class FaultSimulator {
 public:
  explicit FaultSimulator(Program program);
  const Program& program() const { return interpreter_.program(); }
  /// The first of the frames whose outputs differ from `outputs`, those without a fault; -1 when
  /// none does. `inputs` and `outputs` are those of Interpreter::run.
  std::int64_t shown_by(const ConstantBit& bit, const std::vector<Codes>& inputs,
                        const std::vector<Codes>& outputs, std::int64_t frames);

 private:
  Interpreter interpreter_;
};

}  // namespace mase::integer
