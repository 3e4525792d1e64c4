// SPDX-License-Identifier: Apache-2.0
// What the processes of a training send each other: LibTorch's c10d over gloo, on the CPU.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "backend/ranks.hpp"

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
  /// Replaces the values by their sums over all processes, the same bits in each of them.
  void sum(at::Tensor values);
  /// Replaces the values by those of rank 0.
  void broadcast(at::Tensor values);
  /// On rank 0 the values of all processes in the order of ranks; elsewhere an empty list. The
  /// shapes must be the same.
  std::vector<at::Tensor> gather(const at::Tensor& values);
  void wait_for_all();

 private:
  struct Connections;
  static std::unique_ptr<Connections> connect(const backend::Ranks& ranks);
  backend::Ranks ranks_;
  std::unique_ptr<Connections> connections_;
};

}  // namespace mase::train
