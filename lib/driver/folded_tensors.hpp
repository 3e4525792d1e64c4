// SPDX-License-Identifier: Apache-2.0
// The tensors of a folder of transformers that a graph has no longer, because they have become
// constants. transformers computes the same constants from them.
#pragma once

#include "driver/quantized_folder.hpp"
#include "huggingface/origin.hpp"
#include "ir/graph.hpp"

namespace mase::driver {

/// The graph and, besides its tensors, those of its origin that were folded into constants. Their
/// values are those of the model before its passes, where the request has it, or of the source's
/// files, which nothing else reads. Error(Fault::unsupported) if neither has the values that were
/// folded, or a constant has changed since: the two programs then do not compute the same.
ir::Graph with_folded_tensors(const ir::Graph& graph, const huggingface::Origin& origin,
                              const FolderRequest& request);

}  // namespace mase::driver
