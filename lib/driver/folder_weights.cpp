// SPDX-License-Identifier: Apache-2.0
// The first value that the type of the source has not lets the writing start again with float32.
#include "driver/folder_weights.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <map>

#include "base/file.hpp"
#include "base/log.hpp"
#include "driver/folder_values.hpp"
#include "driver/untied_tensors.hpp"
#include "safetensors/safetensors.hpp"

namespace mase::driver {
namespace {

namespace fs = std::filesystem;
using huggingface::Origin;
using safetensors::TensorType;

constexpr const char* weights_name = "model.safetensors";

/// Thrown out of a file that is being written.
struct Inexact {
  std::string path;
};

std::string path_of(const std::string& folder, const std::string& file) {
  return (fs::path(folder) / file).string();
}

/// A tensor of the files, in the order of the names.
struct Placed {
  TensorType type;
  std::string path;  ///< in the graph
};

std::vector<Placed> placed_tensors(const ir::Graph& graph, const Origin& origin, DType dtype) {
  std::vector<Placed> tensors;
  for (const auto& [path, stored] : origin.tensors) {
    const Array& value = graph.tensors.at(path).value;
    const DType kind = is_floating(value.dtype()) ? dtype : value.dtype();
    tensors.push_back({{stored.key, kind, value.shape()}, path});
    if (is_untied(origin))
      for (const std::string& name : graph.tensors.at(path).other_names)
        tensors.push_back({{name, kind, value.shape()}, path});
  }
  std::ranges::sort(tensors, {}, [](const Placed& one) { return one.type.name; });
  return tensors;
}

/// Parts of at most `most` bytes; a larger tensor is a part by itself.
std::vector<std::vector<Placed>> shards_of(const std::vector<Placed>& tensors, std::int64_t most) {
  std::vector<std::vector<Placed>> shards(1);
  std::size_t bytes = 0;
  for (const Placed& tensor : tensors) {
    const std::size_t more = tensor.type.byte_size();
    if (!shards.back().empty() && bytes + more > static_cast<std::size_t>(most)) {
      shards.emplace_back();
      bytes = 0;
    }
    bytes += more;
    shards.back().push_back(tensor);
  }
  return shards;
}

std::string shard_name(std::size_t number, std::size_t count) {
  if (count == 1) return weights_name;
  std::array<char, 64> name{};
  std::snprintf(name.data(), name.size(), "model-%05zu-of-%05zu.safetensors", number + 1, count);
  return name.data();
}

void write_shard(const std::string& path, const std::vector<Placed>& tensors, FolderValues& values,
                 WeightHashes& hashes) {
  std::vector<TensorType> types;
  std::map<std::string, const Placed*> by_name;
  for (const Placed& tensor : tensors) {
    types.push_back(tensor.type);
    by_name.emplace(tensor.type.name, &tensor);
  }
  safetensors::write_stream(path, types, [&](const TensorType& type, const auto& sink) {
    const std::string& tensor = by_name.at(type.name)->path;
    StreamedHash hash(type);
    const auto hash_and_write = [&](const std::byte* bytes, std::size_t count) {
      hash.add(bytes, count);
      sink(bytes, count);
    };
    if (!values.write(tensor, type.dtype, hash_and_write)) throw Inexact{tensor};
    hashes[type.name] = hash.finish();
  });
}

FolderWeights write_shards(const ir::Graph& graph, const std::string& folder,
                           const std::vector<Placed>& tensors, std::int64_t most) {
  FolderValues values(graph);
  const auto shards = shards_of(tensors, most);
  FolderWeights written;
  Tree map = Tree::dict();
  for (std::size_t i = 0; i < shards.size(); ++i) {
    written.files.push_back(shard_name(i, shards.size()));
    write_shard(path_of(folder, written.files.back()), shards[i], values, written.hashes);
    for (const Placed& tensor : shards[i]) {
      map[tensor.type.name] = written.files.back();
      written.bytes += tensor.type.byte_size();
    }
  }
  if (shards.size() > 1) {
    Tree index = Tree::dict();
    index["metadata"]["total_size"] = written.bytes;
    index["weight_map"] = std::move(map);
    written.files.push_back(std::string(weights_name) + ".index.json");
    write_file(path_of(folder, written.files.back()), to_json(index) + "\n");
  }
  written.quantized = values.quantized();
  written.kept = values.kept();
  return written;
}

/// Removes the files of an earlier writing.
void remove_shards(const std::string& folder) {
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const bool is_shard = name.starts_with("model-") && name.ends_with(".safetensors");
    if (is_shard || name == weights_name || name == std::string(weights_name) + ".index.json")
      remove_file(entry.path().string());
  }
}

}  // namespace

FolderWeights write_folder_weights(const ir::Graph& graph, const Origin& origin,
                                   const std::string& folder, std::int64_t most) {
  const auto write_as = [&](DType dtype) {
    remove_shards(folder);
    FolderWeights written = write_shards(graph, folder, placed_tensors(graph, origin, dtype), most);
    written.dtype = dtype;
    return written;
  };
  const DType dtype = origin.dtype();
  try {
    return write_as(dtype);
  } catch (const Inexact& inexact) {
    log::info(folder + ": the weights are float32, since " + std::string(dtype_name(dtype)) +
              " has not all values of " + inexact.path);
    return write_as(DType::float32);
  }
}

}  // namespace mase::driver
