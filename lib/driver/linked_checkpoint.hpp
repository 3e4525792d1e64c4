// SPDX-License-Identifier: Apache-2.0
// Checkpoints that refer to the weights of a folder of transformers instead of repeating them:
// folders with mase.json and config.json, and with links.json, which says where the weights are.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/tree.hpp"
#include "driver/weight_hashes.hpp"
#include "ir/graph.hpp"

namespace mase::driver {

/// The hashes of the tensors that the graph has from a folder of transformers, by their names
/// there, if the folder's safetensors still have each of them; nothing if one differs or is
/// missing. Reads all tensors.
std::optional<WeightHashes> hashes_of_source(const ir::Graph& graph);

/// Writes a folder with the graph, whose tensors have these hashes in the folder of its origin.
/// config.json comes last: without it, the folder does not count as a checkpoint.
void write_linked_checkpoint(const ir::Graph& graph, const Tree& info, const WeightHashes& hashes,
                             const std::string& folder);

/// Removes a linked checkpoint if there is one.
void remove_linked_checkpoint(const std::string& folder);

/// The folder that has the weights of a linked checkpoint; nothing for anything else.
/// Error(Fault::file) if there is no such folder any more.
std::optional<std::string> linked_weights(const std::string& checkpoint);

/// The files with the weights of a linked checkpoint, which may also be named by its project;
/// empty for any other path. For the sandbox: no file is opened besides links.json, and names
/// of weights are those of safetensors alone.
std::vector<std::string> linked_files(const std::string& path);

}  // namespace mase::driver
