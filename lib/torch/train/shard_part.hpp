// SPDX-License-Identifier: Apache-2.0
// A shard of a batch as a part that shares statistics and random numbers with the others.
#pragma once

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "torch/run/batch_parts.hpp"
#include "torch/train/batches.hpp"

namespace mase::train {

/// The numbers of all shards in their order, from those of one or of a process's own.
using GatherNumbers = std::function<std::vector<double>(std::span<const double> own)>;

/// The shard that is loaded.
class ShardPart final : public libtorch::BatchParts {
 public:
  /// `batches` must outlive the object.
  ShardPart(const Batches& batches, GatherNumbers gather)
      : batches_(batches), gather_(std::move(gather)) {}

  bool counts() const override { return batches_.share().rows > 0; }
  libtorch::PartRows rows() const override {
    const Batches::Share& share = batches_.share();
    return counts() ? libtorch::PartRows{share.first, share.rows, share.all}
                    : libtorch::PartRows{0, 1, share.all};
  }
  std::vector<double> gather(std::span<const double> own) override { return gather_(own); }

 private:
  const Batches& batches_;
  GatherNumbers gather_;
};

}  // namespace mase::train
