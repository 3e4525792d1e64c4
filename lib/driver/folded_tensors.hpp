// SPDX-License-Identifier: Apache-2.0
// The tensors of a folder of transformers that a graph has no longer, because they have become
// constants. transformers computes the same constants from them.
#pragma once

#include <string>

#include "huggingface/origin.hpp"
#include "ir/graph.hpp"

namespace mase::driver {

/// The graph and, besides its tensors, those of its origin that were folded into constants, with
/// the values of the files in `source`, or of the origin's folder if that is empty. Nothing of
/// these files is read if nothing was folded. Error(Fault::unsupported) if a folded tensor had
/// other values than the file, or a constant has changed since: the two then do not compute the
/// same.
ir::Graph with_folded_tensors(const ir::Graph& graph, const huggingface::Origin& origin,
                              const std::string& source);

}  // namespace mase::driver
