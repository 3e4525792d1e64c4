// SPDX-License-Identifier: Apache-2.0
// What is said of a training loss that is not as it should be.
#pragma once

#include <cstdint>
#include <optional>

#include "torch/train/schedule.hpp"

namespace mase::train {

/// Error(Fault::goal) for a loss that is NaN or infinite in step `step` (from 0).
[[noreturn]] void refuse_loss(double loss, std::int64_t step, const StepCounts& counts);

/// Warns once of a loss that has become many times the first one of this run.
class GrowthWarning {
 public:
  void see(double loss, std::int64_t step);

 private:
  std::optional<double> first_;  ///< of this run
  bool warned_ = false;
};

}  // namespace mase::train
