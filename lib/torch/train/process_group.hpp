// SPDX-License-Identifier: Apache-2.0
// What the processes of a training send each other: LibTorch's c10d over gloo, on the CPU.
// Processes of one machine sum in memory that they share.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "backend/ranks.hpp"
#include "torch/train/shards.hpp"
#include "torch/train/shared_memory.hpp"

namespace mase::train {

/// The connected processes of a training. All of them must call the same functions in the same
/// order. Error(Fault::file) where another process has ended or does not answer in time.
class ProcessGroup {
 public:
  /// Meets the other processes. Error(Fault::file) names the place where they do not come.
  explicit ProcessGroup(const backend::Ranks& ranks);
  ~ProcessGroup();
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;

  int rank() const { return ranks_.rank; }
  int size() const { return ranks_.size; }
  bool is_first() const { return ranks_.rank == 0; }

  /// The texts that all processes give under this key, which is used once.
  std::vector<std::string> exchange(const std::string& key, const std::string& text);
  /// Writes the sums of all shards in their order into `sums`, [n] floats or doubles, so that the
  /// bits depend neither on how the processes are connected nor on their number. `own` is [own
  /// shards, n].
  void sum(const at::Tensor& own, const Shards& shards, const at::Tensor& sums);
  /// Replaces the values of all processes, a shard each, by their sums.
  void sum(const at::Tensor& values);
  /// Writes the numbers of all shards in their order into `all`, [shards, n]. `own` is [own shards,
  /// n].
  void gather(const at::Tensor& own, const Shards& shards, const at::Tensor& all);
  /// Replaces the values by those of rank 0.
  void broadcast(at::Tensor values);
  /// On rank 0 the values of all processes in the order of ranks; elsewhere an empty list. The
  /// shapes must be the same.
  std::vector<at::Tensor> gather(const at::Tensor& values);
  /// The values of all processes in the order of ranks, in each of them.
  std::vector<at::Tensor> gather_to_all(const at::Tensor& values);
  /// Gives part i to rank i, and returns what all ranks have given to this one. All parts have the
  /// same shape.
  std::vector<at::Tensor> exchange_parts(const std::vector<at::Tensor>& parts);
  /// Sends values to one process, or fills them with what it sends with the same tag.
  void send(const at::Tensor& values, int to, int tag);
  void receive(const at::Tensor& values, int from, int tag);
  void wait_for_all();

  /// A group of some of the processes, this one among them, with the ranks in the order of
  /// `members`. Only they call this function; another group needs another name.
  std::unique_ptr<ProcessGroup> part(const std::string& name, const std::vector<int>& members);

 private:
  struct Connections;
  void sum_in_memory(const at::Tensor& own, const Shards& shards, const at::Tensor& sums);
  void sum_by_messages(const at::Tensor& own, const Shards& shards, const at::Tensor& sums);
  void gather_in_memory(const at::Tensor& own, const Shards& shards, const at::Tensor& all);
  void gather_by_messages(const at::Tensor& own, const Shards& shards, const at::Tensor& all);
  ProcessGroup(const backend::Ranks& ranks, std::unique_ptr<Connections> connections);
  static std::unique_ptr<Connections> connect(const backend::Ranks& ranks);
  backend::Ranks ranks_;
  std::unique_ptr<Connections> connections_;
  std::unique_ptr<SharedMemory> memory_;  ///< if the launcher gave some
};

}  // namespace mase::train
