// SPDX-License-Identifier: Apache-2.0
// Tensors that a checkpoint can hold as integer codes alone.
#pragma once

#include "ir/graph.hpp"

namespace mase::checkpoint {

/// The graph with its tensors coded where nothing that a node reads is lost: every reader reads the
/// tensor through one and the same format, whose codes are decoded by a table or a product to the
/// very values, and which gives these values and codes again when it quantizes them. The values are
/// then those of the codes. Other tensors stay as they are.
ir::Graph with_codes_alone(const ir::Graph& graph);

}  // namespace mase::checkpoint
