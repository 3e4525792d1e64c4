// SPDX-License-Identifier: Apache-2.0
// What a graph needs of other processes while it runs its part of a larger one.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>

namespace mase::libtorch {

/// Exchanges tensors with the processes of a line along an axis of the mesh; all of them call the
/// same functions in the same order.
class Collectives {
 public:
  virtual ~Collectives() = default;
  virtual at::Tensor all_reduce(const at::Tensor& values, std::size_t axis) = 0;
  /// The tensors of all, one after the other along `dim`.
  virtual at::Tensor all_gather(const at::Tensor& values, std::size_t axis, std::int64_t dim) = 0;
  /// This process's part along `dim` of the sum.
  virtual at::Tensor reduce_scatter(const at::Tensor& values, std::size_t axis,
                                    std::int64_t dim) = 0;
  /// Parts along `from` become parts along `to`.
  virtual at::Tensor all_to_all(const at::Tensor& values, std::size_t axis, std::int64_t from,
                                std::int64_t to) = 0;
  /// Sends to another process of the whole mesh, which receives with the same tag.
  virtual void send(const at::Tensor& values, std::int64_t to, std::int64_t tag) = 0;
  /// Fills `values` with what process `from` sends.
  virtual void receive(at::Tensor& values, std::int64_t from, std::int64_t tag) = 0;
};

/// While this object lives, the operators mase::all_reduce, ... of this thread use `collectives`.
class UseCollectives {
 public:
  explicit UseCollectives(Collectives& collectives);
  ~UseCollectives();
  UseCollectives(const UseCollectives&) = delete;
  UseCollectives& operator=(const UseCollectives&) = delete;

 private:
  Collectives* before_;
};

/// Those of this thread. Error(Fault::config) if the graph runs outside of its mesh.
Collectives& collectives_in_use();

}  // namespace mase::libtorch
