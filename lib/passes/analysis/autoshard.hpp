// SPDX-License-Identifier: Apache-2.0
// Layouts of a graph for a mesh of devices.
#pragma once

#include "passes/pass.hpp"

namespace mase::passes {

/// Chooses for every node which of its loops the devices of a mesh share, so that the predicted
/// time of computing and of moving tensors between layouts is least (Zheng et al., "Alpa", OSDI
/// 2022, section 4). The choice is exact for the costs of sharding/mesh.hpp: no other combination
/// of layouts is predicted to be faster. Computing takes the FLOPs of `flops` for the batch of the
/// graph, divided by the devices that share them, at `device_flops`, or the time in which a device
/// reads and writes its parts at `memory_bandwidth`, if that is longer (sharding/roofline.hpp).
///
/// With `stages` the graph is cut into consecutive parts, each on an equal part of the mesh, and
/// the time of `micro_batches` is least (sharding/choose_stages.hpp). "seconds" is then their time,
/// and "stages" has each stage's devices, nodes and times. One device takes "one_device_seconds"
/// for one micro-batch.
///
/// Writes `autosharding` into the software metadata of each node (sharding/layout_metadata.hpp) and
/// computes nothing else; the layouts hold for the shapes noted in the graph. Info: "devices",
/// "seconds", "compute_seconds", "moving_seconds", "one_device_seconds", "bytes_per_device" of
/// stored tensors, "variables" of the search, and "nodes"; autoshard.csv has the same numbers.
/// Error(Fault::config) if no loop of the graph divides by an axis, or the stored tensors of a
/// device take more than `device_memory`.
struct Autoshard {
  static constexpr PassDoc doc{"autoshard", PassKind::analysis,
                               "Layouts of all tensors on a mesh of devices."};
  struct Options {
    std::vector<std::int64_t> mesh_shape{1, 2};
    double inter_node_bandwidth = 10e9, intra_node_bandwidth = 100e9;
    double inter_node_latency = 10e-6, intra_node_latency = 5e-6;
    double device_flops = 10e12, memory_bandwidth = 1e12;
    std::optional<double> device_memory;
    bool split_batch = true;
    std::int64_t stages = 1, micro_batches = 8;
    static constexpr auto fields() {
      using O = Options;
      return std::tuple{
          Field{"mesh_shape", &O::mesh_shape, "machines, and devices of each machine"}.between(
              1, 1024),
          Field{"inter_node_bandwidth", &O::inter_node_bandwidth,
                "bytes per second between two machines"}
              .between(1, 1e15),
          Field{"intra_node_bandwidth", &O::intra_node_bandwidth,
                "bytes per second between two devices of a machine"}
              .between(1, 1e15),
          Field{"inter_node_latency", &O::inter_node_latency,
                "seconds until a collective between machines begins"}
              .between(0, 1e3),
          Field{"intra_node_latency", &O::intra_node_latency,
                "seconds until a collective within a machine begins"}
              .between(0, 1e3),
          Field{"device_flops", &O::device_flops, "operations per second of one device"}.between(
              1, 9e15),
          Field{"memory_bandwidth", &O::memory_bandwidth,
                "bytes per second between a device and its own memory"}
              .between(1, 1e15),
          Field{"device_memory", &O::device_memory,
                "bytes that the stored tensors of one device may take"}
              .between(1, 1e15),
          Field{"split_batch", &O::split_batch, "devices may have rows of the batch of their own"},
          Field{"stages", &O::stages,
                "stages of a pipeline, each with an equal part of the mesh; 1: no pipeline"}
              .between(1, 1024),
          Field{"micro_batches", &O::micro_batches,
                "inputs of the example's shape that a pipeline takes one after the other"}
              .between(1, 1000000)};
    }
  };
  static Result run(ir::Graph& graph, const Options& options, PassContext& context);
};

}  // namespace mase::passes
