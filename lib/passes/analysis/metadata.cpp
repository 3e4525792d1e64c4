// SPDX-License-Identifier: Apache-2.0
// The metadata passes; ir/metadata computes what they store.
#include "ir/metadata.hpp"

#include "passes/analysis/metadata.hpp"

namespace mase::passes {
namespace {

template <class Fill>
Result for_every_node(ir::Graph& graph, Fill fill) {
  for (ir::NodeId id : graph.order()) fill(graph.node(id));
  Result result;
  result.info["nodes"] = graph.order().size();
  return result;
}

}  // namespace

Result InitMetadata::run(ir::Graph& graph, const Options&, PassContext&) {
  return for_every_node(graph, [](ir::Node& node) {
    node.meta = {Tree::dict(), Tree::dict(), Tree::dict()};
  });
}

Result AddCommonMetadata::run(ir::Graph& graph, const Options&, PassContext&) {
  return for_every_node(
      graph, [&](ir::Node& node) { node.meta.common = ir::common_metadata(graph, node); });
}

Result AddSoftwareMetadata::run(ir::Graph& graph, const Options&, PassContext&) {
  return for_every_node(
      graph, [&](ir::Node& node) { node.meta.software = ir::software_metadata(graph, node); });
}

}  // namespace mase::passes
