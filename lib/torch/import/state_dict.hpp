// SPDX-License-Identifier: Apache-2.0
// Reads the values of a graph's tensors from TorchScript files and state_dicts.
#pragma once

#include <string>

#include "ir/graph.hpp"

namespace mase::libtorch {

/// Replaces the graph's tensors by those of a TorchScript file, of a state_dict saved with
/// torch.save, or of a dict with an entry "state_dict". Names and shapes must match, except that
/// all names may have a common prefix; missing counters of batch norms and constants of the model's
/// code keep their values. A tied tensor may appear under one or several of its names. Values are
/// converted to the graph's dtypes. Throws an Error(Fault::file) with all differences and leaves
/// the graph unchanged. Runs no code of the file.
void load_state_dict(const std::string& path, ir::Graph& graph);

}  // namespace mase::libtorch
