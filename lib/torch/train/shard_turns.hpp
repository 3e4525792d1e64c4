// SPDX-License-Identifier: Apache-2.0
// Shards of one process that need each other's numbers: each is computed by a thread, and the
// threads take turns.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

#include "torch/train/shard_part.hpp"

namespace mase::train {

/// Computes shards one at a time. A shard that gathers waits until all others have come as far, so
/// that every shard calls `gather` as often as the others. Every one has LibTorch's generators for
/// itself. So results depend neither on the threads nor on the order of turns.
class ShardTurns {
 public:
  /// `gather` takes the numbers of all these shards, in their order.
  ShardTurns(std::size_t shards, c10::Device device, GatherNumbers gather);
  ShardTurns(const ShardTurns&) = delete;
  ShardTurns& operator=(const ShardTurns&) = delete;

  /// Calls work(0), work(1), ..., and throws the first error of them.
  void run(const std::function<void(std::size_t shard)>& work);
  /// To be called in the work of a shard.
  std::vector<double> gather(std::size_t shard, std::span<const double> own);

 private:
  struct Ended {};  ///< another shard has failed
  void take_turns(std::size_t shard, const std::function<void(std::size_t)>& work);
  void wait_for_turn(std::size_t shard);
  void end_turn(std::size_t shard);
  void fail(std::exception_ptr error);

  std::vector<at::Generator> generators_;
  GatherNumbers gather_;
  std::mutex mutex_;
  std::condition_variable next_;
  std::size_t turn_ = 0;
  std::exception_ptr error_;                     ///< the first one
  std::vector<std::vector<at::Tensor>> states_;  ///< of the generators, for each shard
  std::vector<double> own_, all_;
};

}  // namespace mase::train
