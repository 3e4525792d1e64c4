// SPDX-License-Identifier: Apache-2.0
// The graph that one device of a mesh runs.
#pragma once

#include <cstdint>

#include "ir/graph.hpp"
#include "sharding/mesh.hpp"

namespace mase::sharding {

/// The part of a graph with layouts (layout_metadata.hpp) that device `rank` computes: the same
/// nodes on its parts of the tensors, and between them the collectives that the layouts ask for:
///
///     mase::all_reduce(self, axis)           mase::all_gather(self, axis, dim)
///     mase::reduce_scatter(self, axis, dim)  mase::all_to_all(self, axis, from, to)
///
/// Device r of S stages with n devices each is device r % n of stage r / n, which computes the
/// nodes of this stage. A result that a later stage reads goes whole from each device of its own
/// stage to the same device of the other; the results of the graph go to all:
///
///     mase::send(self, to, tag)      mase::receive(shape, dtype, from, tag)
///
/// Both have one more argument, `after`, the tensors that are to be sent or received before. All
/// devices of a line along the axis run them in the same order. Inputs and results are those of
/// the whole graph. Sizes that the graph computes become constants, so the graph takes only inputs
/// of the noted shapes. Error(Fault::file) names a node whose metadata do not fit it.
ir::Graph rank_graph(const ir::Graph& graph, const Mesh& mesh, std::int64_t rank,
                     std::size_t stages = 1);

}  // namespace mase::sharding
