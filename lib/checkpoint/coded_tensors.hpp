// SPDX-License-Identifier: Apache-2.0
// Finds tensors that a checkpoint can store as integer codes only.
#pragma once

#include "ir/graph.hpp"

namespace mase::checkpoint {

/// Returns the graph with tensors as codes where no node loses information. This is so if all
/// readers of the tensor use the same format, whose codes a table or a product decodes exactly, and
/// which quantizes the decoded values to the same values and codes again. The values of such a
/// tensor become the decoded ones. Other tensors are unchanged.
ir::Graph with_codes_alone(const ir::Graph& graph);

}  // namespace mase::checkpoint
