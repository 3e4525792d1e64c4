// SPDX-License-Identifier: Apache-2.0
// Stages of a pipeline: consecutive parts of a graph, each on an equal part of a mesh.
#pragma once

#include <vector>

#include "sharding/choose_layouts.hpp"

namespace mase::sharding {

/// What a pipeline is to be.
struct PipelineOptions {
  std::size_t stages = 1;
  double micro_batches = 1;
  std::size_t most_cuts = 96;  ///< places where the graph may be cut
};

/// One stage. `receiving` is the time in which results of earlier stages arrive.
struct Stage {
  GraphPart part;
  Layouts layouts;
  double receiving = 0;
  double seconds() const { return layouts.seconds + receiving; }
};

/// The stages in the order of the devices that compute them.
struct Pipeline {
  Mesh mesh;  ///< of one stage
  std::vector<Stage> stages;
  double seconds = 0;      ///< until all micro-batches are done
  std::size_t solved = 0;  ///< parts of the graph whose layouts were chosen exactly
};

/// The mesh of each of so many stages: rows of the machines, or columns within them where there are
/// more stages than machines. Error(Fault::config) if the devices cannot be shared out so.
Mesh stage_mesh(const Mesh& mesh, std::size_t stages);

/// Chooses where the graph is cut together with the layouts of each part, so that the time of all
/// micro-batches is least. The example of the graph is one micro-batch. With the times t_i of the
/// stages, B micro-batches take sum t_i + (B - 1) max t_i (Zheng et al., "Alpa", OSDI 2022,
/// equation 2). A result goes once to each later stage that reads it, whole, at the bandwidth of a
/// link between machines if the mesh has several machines.
///
/// The choice is exact for graphs with at most `most_cuts` places where they may be cut. Others are
/// cut at those places alone, in so many runs of equal work, where the fewest bytes cross.
/// Error(Fault::config) if there are not enough places, a result is not a tensor, or the tensors of
/// a stage take more than `most_bytes` (negative for no limit) on a device.
Pipeline choose_stages(const ir::Graph& graph, const Mesh& mesh, const Demands& demands,
                       double most_bytes, const PipelineOptions& pipeline,
                       const SolverOptions& options = {});

}  // namespace mase::sharding
