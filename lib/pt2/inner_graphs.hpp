// SPDX-License-Identifier: Apache-2.0
// Graphs within the graph of an exported program.
#pragma once

#include <optional>

#include "base/tree.hpp"

namespace mase::pt2 {

/// The nodes and values of the graph that a node runs once, under names of the graph around it;
/// nullopt for every other node. Error(Fault::unsupported) where running it changes precision.
std::optional<Tree> inner_graph(const Tree& node);

}  // namespace mase::pt2
