// SPDX-License-Identifier: Apache-2.0
// Elements per sample, from the shapes noted in the graph.
#include "passes/analysis/rows.hpp"

#include <algorithm>

namespace mase::passes {

std::int64_t noted_batch(const ir::Graph& graph) {
  for (ir::NodeId id : graph.placeholders()) {
    const ir::ValueInfo& info = graph.node(id).info;
    if (info.is_tensor() && !info.shape.empty() && info.shape[0] > 0) return info.shape[0];
  }
  return 1;
}

double SampleElements::of(ir::NodeId id, const ir::ValueInfo& info) const {
  double total = 0;
  if (info.is_tensor())
    total = double(numel(info.shape)) / (has_rows(id, info.shape) ? double(batch_) : 1.0);
  for (const ir::ValueInfo& item : info.elements) total += of(id, item);
  return total;
}

bool SampleElements::has_rows(ir::NodeId id, const Shape& shape) const {
  const Powers& powers = powers_.of(id);
  const bool known =
      powers.size() == shape.size() &&
      std::ranges::all_of(powers, [](const Power& power) { return power.has_value(); });
  if (known) return std::ranges::any_of(powers, [](const Power& power) { return *power > 0; });
  return !shape.empty() && shape[0] % batch_ == 0;
}

}  // namespace mase::passes
