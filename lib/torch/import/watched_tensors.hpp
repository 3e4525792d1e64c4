// SPDX-License-Identifier: Apache-2.0
// The importer's tensors by the memory that they show, so that a change in place finds the others
// that show the same memory, however many tensors there are.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <memory>
#include <unordered_map>
#include <vector>

#include "torch/import/value.hpp"

namespace mase::libtorch {

/// Whether two tensors are the same one, read twice.
bool is_same_memory(const at::Tensor& a, const at::Tensor& b);

/// Whether two tensors have elements in common.
bool overlap(const at::Tensor& a, const at::Tensor& b);

/// Cells that somebody still holds. A cell that gets another tensor is added again.
class WatchedTensors {
 public:
  /// Does nothing with a cell that is no tensor.
  void add(const Ref& cell);
  /// The cells whose tensors show the same storage, in the order in which they were added.
  std::vector<Ref> sharing(const at::Tensor& memory);

 private:
  using Cells = std::vector<std::weak_ptr<Cell>>;
  void forget_dead();

  std::unordered_map<const void*, Cells> by_storage_;
  std::size_t count_ = 0;        ///< cells in all of them, dead ones too
  std::size_t sweep_at_ = 1024;  ///< the count at which dead ones are looked for
};

}  // namespace mase::libtorch
