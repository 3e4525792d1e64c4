// SPDX-License-Identifier: Apache-2.0
// What of a design is kept in the metadata of its graph, and the design that this stands for.
#pragma once

#include "hardware/design/build.hpp"
#include "hardware/design/design.hpp"
#include "hardware/integer/program.hpp"
#include "ir/graph.hpp"
#include "passes/pass.hpp"

namespace mase::design {

/// Keeps what the output node says of a whole design.
void store_timing(ir::Graph& graph, const Timing& timing);
void store_contents(ir::Graph& graph, integer::Contents contents);

/// The folds recorded in the metadata; empty when the pass has not run.
Folding folding_of(const ir::Graph& graph);
/// The depths of FIFOs that the metadata has.
FifoDepths stored_fifos(const ir::Graph& graph);

/// The graph as hardware, with its timing: lowered, folded as the metadata says (or by the default
/// target when there is none) and built. Error(Fault::unsupported) naming nodes without hardware.
Design design_of(const ir::Graph& graph);

/// The same, built once in a pipeline: `context` keeps it until a pass changes the graph.
const Design& design_of(const ir::Graph& graph, passes::PassContext& context);

}  // namespace mase::design
