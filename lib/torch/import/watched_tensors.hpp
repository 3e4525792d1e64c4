// SPDX-License-Identifier: Apache-2.0
// An index of the importer's tensors by their memory. After a change in place it finds the other
// tensors that share the memory quickly, even among many tensors.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <memory>
#include <unordered_map>
#include <vector>

#include "torch/import/value.hpp"

namespace mase::libtorch {

/// Whether two tensors are the same tensor, read twice.
bool is_same_memory(const at::Tensor& a, const at::Tensor& b);

/// Whether two tensors have elements in common.
bool overlap(const at::Tensor& a, const at::Tensor& b);

/// The index, which holds weak references. A cell that gets another tensor must be added again.
class WatchedTensors {
 public:
  /// Adds a cell; does nothing if it is not a tensor.
  void add(const Ref& cell);
  /// The cells whose tensors share this storage, in the order in which they were added.
  std::vector<Ref> sharing(const at::Tensor& memory);

 private:
  using Cells = std::vector<std::weak_ptr<Cell>>;
  void forget_dead();

  std::unordered_map<const void*, Cells> by_storage_;
  std::size_t count_ = 0;        ///< number of all cells, including dead ones
  std::size_t sweep_at_ = 1024;  ///< the count at which dead cells are removed
};

}  // namespace mase::libtorch
