// SPDX-License-Identifier: Apache-2.0
// Elements per sample of noted shapes.
#include "passes/analysis/rows.hpp"

namespace mase::passes {

std::int64_t noted_batch(const ir::Graph& graph) {
  for (ir::NodeId id : graph.placeholders()) {
    const ir::ValueInfo& info = graph.node(id).info;
    if (info.is_tensor() && !info.shape.empty() && info.shape[0] > 0) return info.shape[0];
  }
  return 1;
}

double elements_per_sample(const Shape& shape, std::int64_t batch) {
  const bool has_rows = !shape.empty() && shape[0] % batch == 0;
  return double(numel(shape)) / (has_rows ? double(batch) : 1.0);
}

}  // namespace mase::passes
