// SPDX-License-Identifier: Apache-2.0
// The parts of a batch that the processes of a training have.
#pragma once

#include "torch/run/batch_parts.hpp"
#include "torch/train/batches.hpp"
#include "torch/train/process_group.hpp"

namespace mase::train {

/// Each process has one shard of a batch, which is loaded.
class ProcessParts final : public libtorch::BatchParts {
 public:
  /// The arguments must outlive the object.
  ProcessParts(ProcessGroup& group, const Batches& batches) : group_(group), batches_(batches) {}

  bool counts() const override { return batches_.share().rows > 0; }
  libtorch::PartRows rows() const override;
  std::vector<double> gather(std::span<const double> own) override;

 private:
  ProcessGroup& group_;
  const Batches& batches_;
};

}  // namespace mase::train
