// SPDX-License-Identifier: Apache-2.0
// Passes the turn from shard to shard: at each gathering, and where a shard is done.
#include "torch/train/shard_turns.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/Parallel.h>

#include <thread>
#include <utility>

namespace mase::train {

ShardTurns::ShardTurns(std::size_t shards, c10::Device device, GatherNumbers gather)
    : generators_{at::detail::getDefaultCPUGenerator()},
      gather_(std::move(gather)),
      states_(shards) {
  if (!device.is_cpu()) generators_.push_back(at::globalContext().defaultGenerator(device));
}

void ShardTurns::run(const std::function<void(std::size_t)>& work) {
  turn_ = 0;
  error_ = nullptr;
  own_.clear();
  for (std::vector<at::Tensor>& states : states_) states.clear();
  std::vector<std::thread> others;
  for (std::size_t shard = 1; shard < states_.size(); ++shard)
    others.emplace_back([this, shard, &work, threads = at::get_num_threads()] {
      at::set_num_threads(threads);
      take_turns(shard, work);
    });
  take_turns(0, work);
  for (std::thread& other : others) other.join();
  if (error_) std::rethrow_exception(error_);
}

void ShardTurns::take_turns(std::size_t shard, const std::function<void(std::size_t)>& work) {
  try {
    wait_for_turn(shard);
    work(shard);
    end_turn(shard);
  } catch (const Ended&) {
  } catch (...) {
    fail(std::current_exception());
  }
}

std::vector<double> ShardTurns::gather(std::size_t shard, std::span<const double> own) {
  own_.insert(own_.end(), own.begin(), own.end());
  if (shard + 1 == states_.size()) {
    all_ = gather_(own_);
    own_.clear();
  }
  end_turn(shard);
  wait_for_turn(shard);
  return all_;
}

void ShardTurns::wait_for_turn(std::size_t shard) {
  std::unique_lock<std::mutex> lock(mutex_);
  next_.wait(lock, [&] { return turn_ == shard || error_; });
  if (error_) throw Ended{};
  for (std::size_t i = 0; i < states_[shard].size(); ++i)
    generators_[i].set_state(states_[shard][i]);
}

void ShardTurns::end_turn(std::size_t shard) {
  const std::lock_guard<std::mutex> lock(mutex_);
  states_[shard].clear();
  for (const at::Generator& generator : generators_)
    states_[shard].push_back(generator.get_state());
  turn_ = (shard + 1) % states_.size();
  next_.notify_all();
}

void ShardTurns::fail(std::exception_ptr error) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!error_) error_ = std::move(error);
  next_.notify_all();
}

}  // namespace mase::train
