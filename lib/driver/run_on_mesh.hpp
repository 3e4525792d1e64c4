// SPDX-License-Identifier: Apache-2.0
// Running a model whose metadata has layouts on several processes.
#pragma once

#include "backend/ranks.hpp"
#include "ir/evaluator.hpp"

namespace mase::driver {

/// The results of this process, which are those of the whole graph in float. The processes are the
/// devices of the mesh for which the pass autoshard chose the layouts of the graph. The inputs must
/// have the shapes for which it chose them. Error(Fault::config) if the graph has no layouts, or
/// another number of devices.
ir::Results run_on_mesh(const ir::Graph& graph, const std::vector<Array>& inputs,
                        const backend::Ranks& ranks);

}  // namespace mase::driver
