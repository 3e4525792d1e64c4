// SPDX-License-Identifier: Apache-2.0
// Runs one process's part of a graph together with the other processes of a mesh.
#pragma once

#include <array>
#include <memory>

#include "backend/ranks.hpp"
#include "ir/evaluator.hpp"

namespace mase::train {

/// An evaluator of sharding::rank_graph, whose collectives go to the processes of `ranks`. They are
/// the devices of a mesh with these numbers of rows and columns, or of several such meshes one
/// after the other, which are the stages of a pipeline. Meets them at once.
std::unique_ptr<ir::Evaluator> make_mesh_evaluator(const ir::Graph& part,
                                                   const backend::Ranks& ranks,
                                                   const std::array<std::int64_t, 2>& mesh);

}  // namespace mase::train
