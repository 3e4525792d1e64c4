// SPDX-License-Identifier: Apache-2.0
// Values of a graph's tensors read from TorchScript files and state_dicts.
#pragma once

#include <string>

#include "ir/graph.hpp"

namespace mase::libtorch {

/// Replaces the graph's tensors by those of a TorchScript file, of a state_dict saved by
/// torch.save, or of a dict that holds one under "state_dict". Names and shapes must be the same,
/// but for one prefix of all names, counters of batch norms and constants of the model's code,
/// which keep their values where they are missing. A tied tensor may be there by one of its names
/// or by several. Values are converted to the graph's dtypes. Error(Fault::file) with every
/// difference; the graph is then unchanged. No code of the file is run.
void load_state_dict(const std::string& path, ir::Graph& graph);

}  // namespace mase::libtorch
