// SPDX-License-Identifier: Apache-2.0
// Folders that transformers opens, with the weights of a quantized graph, and with mase.json, from
// which this program has the graph.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/tree.hpp"
#include "driver/weight_hashes.hpp"
#include "huggingface/origin.hpp"
#include "ir/graph.hpp"

namespace mase::driver {

/// The file with the graph, which is of a format version of its own.
inline constexpr std::string_view graph_file = "mase.json";
inline constexpr int folder_version = 2;
/// The file with the tensors that transformers makes itself: tables of positions, masks.
inline constexpr std::string_view own_tensors_file = "mase.safetensors";
/// The file that says where the weights are, if they are not in the folder (linked_checkpoint.hpp).
inline constexpr std::string_view links_file = "links.json";
/// In the metadata of mase.json: the rows of the model's data were made by the tokenizer that the
/// folder has, so what the data say of it is replaced by the folder.
inline constexpr std::string_view own_tokenizer_key = "own_tokenizer";

/// In mase.json: the hashes of the tensors in the files of weights, and of those in
/// own_tensors_file.
inline constexpr std::string_view weight_hashes_key = "weight_hashes";
inline constexpr std::string_view own_hashes_key = "own_hashes";

inline constexpr std::int64_t usual_shard_size = 5'000'000'000;
/// "5GB", "200MB", "1GiB" or a number of bytes. Error(Fault::config).
std::int64_t parse_shard_size(const std::string& text);

/// Error(Fault::config) if something is at `folder` but not an empty folder.
void require_empty_folder(const std::string& folder);

/// How to write a folder.
struct FolderRequest {
  std::int64_t max_shard_size = usual_shard_size;  ///< bytes of values in a file
  std::string source;  ///< where the model's other files are, if not where it was read
  const ir::Graph* before = nullptr;  ///< the model before passes, where it is known
};

/// Error that write_quantized_folder would have for this graph before it is transformed: it is of
/// no folder of transformers, or the files of that folder, or of `source` if that is given, cannot
/// be read.
void require_source(const ir::Graph& graph, const std::string& source);

/// Makes the folder one that nobody takes for a model, and removes the files of an earlier writing
/// that are not weights.
void clear_folder(const std::string& folder);

/// Writes mase.json, with the hashes of the weights, and the tensors that are none of the origin's.
void write_graph_file(const ir::Graph& graph, const Tree& info, const WeightHashes& weights,
                      const huggingface::Origin& origin, const std::string& folder);

/// Writes graph and weights, which stay in their files until they are written. config.json comes
/// last, so that neither program takes a folder that is not complete. Files that an earlier writing
/// left there are replaced or removed, others stay. Describes the files: numbers of tensors, files
/// and bytes, the type of the weights. Error(Fault::unsupported) for a graph that was not made from
/// a folder, or whose tensors no longer are those of its config.json.
Tree write_quantized_folder(const ir::Graph& graph, const Tree& info, const std::string& folder,
                            const FolderRequest& request);

}  // namespace mase::driver
