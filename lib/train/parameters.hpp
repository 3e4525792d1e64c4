// Parameters: everything an optimiser changes, in one flat buffer; the executor's tensors are
// views.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "ir/graph.hpp"

namespace mase::train {

class Parameters {
 public:
  struct Entry {
    std::string path;
    std::size_t offset = 0;  ///< of its first element in the flat buffers
    at::Tensor leaf;         ///< a view of values() that requires a gradient
    at::Tensor gradient;     ///< a view of gradients() of the same shape
  };

  /// Takes over every trainable tensor of `graph` in `table` (path → tensor, as the executor's).
  /// Error(Fault::config) when none is trainable, Error(Fault::unsupported) when one is not
  /// float32.
  Parameters(const ir::Graph& graph, std::map<std::string, at::Tensor>& table);

  /// Flat buffers. Each tensor begins at a multiple of 64 bytes, so that kernels whose order of
  /// operations depends on alignment give the same bits in every run; the gaps stay zero.
  std::span<float> values();
  std::span<float> gradients();
  const std::vector<Entry>& entries() const { return entries_; }
  /// The entry that owns this leaf's memory, or nullptr.
  const Entry* find(const std::string& path) const;

 private:
  std::vector<Entry> entries_;
  at::Tensor values_, gradients_;
};

}  // namespace mase::train
