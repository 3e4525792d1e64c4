// SPDX-License-Identifier: Apache-2.0
// The values that a quantized folder has for the tensors of a graph: those of the format through
// which all readers read a tensor, where reading them again gives the same, else the tensor's own.
#pragma once

#include <map>
#include <string>

#include "ir/graph.hpp"
#include "ir/tensor_readers.hpp"
#include "safetensors/safetensors.hpp"

namespace mase::driver {

class FolderValues {
 public:
  explicit FolderValues(const ir::Graph& graph);

  /// Gives the values of the tensor at `path`, as numbers of `dtype`, to `sink`, without keeping
  /// the tensor in memory. False if `dtype` has not all of them exactly; the tensor is then written
  /// in part.
  bool write(const std::string& path, DType dtype, const safetensors::Sink& sink);
  /// The tensors with another format or none for some reader, or whose format gives other values
  /// when it reads its own: they have been written as they are.
  const std::vector<std::string>& kept() const { return kept_; }
  std::size_t quantized() const { return quantized_; }

 private:
  const ir::Graph& graph_;
  std::map<std::string, ir::TensorReaders> readers_;
  std::vector<std::string> kept_;
  std::size_t quantized_ = 0;
};

}  // namespace mase::driver
