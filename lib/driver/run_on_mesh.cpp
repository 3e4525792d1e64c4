// SPDX-License-Identifier: Apache-2.0
// Checks that layouts, processes and inputs belong together, and runs this process's part.
#include "driver/run_on_mesh.hpp"

#include "backend/backend.hpp"
#include "base/error.hpp"
#include "sharding/layout_metadata.hpp"
#include "sharding/rank_graph.hpp"

namespace mase::driver {
namespace {

sharding::Mesh mesh_for(const ir::Graph& graph, std::size_t stages, int processes) {
  const auto mesh = sharding::read_mesh(graph);
  if (!mesh)
    config_error(
        "the model has no layouts for several processes; mase transform with the pass "
        "autoshard gives it some");
  const std::int64_t devices = mesh->devices() * static_cast<std::int64_t>(stages);
  if (devices != processes)
    config_error("the model has layouts for " +
                 (stages > 1 ? std::to_string(stages) + " stages, each on " : std::string()) +
                 "a mesh of " + std::to_string(mesh->sizes[0]) + " x " +
                 std::to_string(mesh->sizes[1]) + " devices, but " + std::to_string(processes) +
                 " processes run; start " + std::to_string(devices));
  return *mesh;
}

void require_shapes(const ir::Graph& graph, const std::vector<Array>& inputs) {
  const std::vector<ir::NodeId> placeholders = graph.placeholders();
  for (std::size_t i = 0; i < std::min(inputs.size(), placeholders.size()); ++i) {
    const ir::Node& node = graph.node(placeholders[i]);
    if (node.info.is_tensor() && node.info.shape != inputs[i].shape())
      config_error("input '" + node.name + "' has the shape " + shape_text(inputs[i].shape()) +
                   ", but the layouts are for " + shape_text(node.info.shape) +
                   "; run the pass autoshard with an example of the new shape");
  }
}

}  // namespace

ir::Results run_on_mesh(const ir::Graph& graph, const std::vector<Array>& inputs,
                        const backend::Ranks& ranks) {
  const std::size_t stages = sharding::read_stages(graph);
  const sharding::Mesh mesh = mesh_for(graph, stages, ranks.size);
  require_shapes(graph, inputs);
  const ir::Graph part = sharding::rank_graph(graph, mesh, ranks.rank, stages);
  return backend::open().mesh_evaluator(part, ranks, mesh.sizes)->run(inputs);
}

}  // namespace mase::driver
