// SPDX-License-Identifier: Apache-2.0
// The files of weights of a quantized folder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "driver/weight_hashes.hpp"
#include "huggingface/origin.hpp"
#include "ir/graph.hpp"

namespace mase::driver {

/// What was written.
struct FolderWeights {
  DType dtype = DType::float32;    ///< of all floating-point numbers
  std::size_t bytes = 0;           ///< of values
  std::size_t quantized = 0;       ///< tensors that have the values of a format
  std::vector<std::string> files;  ///< their names, that of the index included
  std::vector<std::string> kept;   ///< tensors that were not quantized, see FolderValues
  WeightHashes hashes;
};

/// Writes the tensors of the origin with the graph's values to files of at most `most` bytes of
/// values each, and an index if there are several, in place of those that are there. Their type is
/// that of the source if it has all values exactly, else float32. Weights stay in their files until
/// they are written.
FolderWeights write_folder_weights(const ir::Graph& graph, const huggingface::Origin& origin,
                                   const std::string& folder, std::int64_t most);

}  // namespace mase::driver
