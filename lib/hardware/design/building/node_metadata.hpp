// SPDX-License-Identifier: Apache-2.0
// The `hardware` record of one node, made from the finished design.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/tree.hpp"
#include "hardware/design/design.hpp"
#include "ir/graph.hpp"

namespace mase::design {

/// What is said of nodes beside the design.
struct MetadataSettings {
  std::map<std::string, int> devices;         ///< by node; others have -1: any
  std::vector<std::int64_t> max_parallelism;  ///< empty: the lanes chosen
};

/// The instance that gives a step's value; null when the step needs none.
const Instance* main_instance(const Design& design, const integer::Step& step);

/// The record as AddHardwareMetadata describes it.
Tree hardware_metadata(const ir::Graph& graph, const ir::Node& node, const Design& design,
                       const MetadataSettings& settings);

std::string multiplier_name(Multiplier multiplier);  ///< "auto", "dsp", "fabric"
Multiplier multiplier_of(const std::string& name);   ///< automatic for other words
/// The fold as {in_lanes, out_lanes, parallel_window, multiplier}. If outputs share a multiplier,
/// it also has packing {outputs, pitch}.
Tree fold_tree(const Fold& fold);
Fold fold_of(const Tree& tree);  ///< Error(Fault::file) unless it is the record of a fold

}  // namespace mase::design
