// SPDX-License-Identifier: Apache-2.0
// A tensor that is mapped from its place in a file is not compared with it.
#include "driver/linked_checkpoint.hpp"

#include <filesystem>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/file_map.hpp"
#include "base/interrupt.hpp"
#include "driver/project.hpp"
#include "driver/quantized_folder.hpp"
#include "huggingface/origin.hpp"
#include "huggingface/weight_files.hpp"
#include "ir/folding.hpp"
#include "safetensors/safetensors.hpp"

namespace mase::driver {
namespace {

namespace fs = std::filesystem;

constexpr const char* folder_key = "weights";

std::string file_in(const std::string& folder, std::string_view name) {
  return (fs::path(folder) / name).string();
}

/// Whether two arrays begin at the same place of the same file.
bool same_place(const Array& one, const Array& other) {
  const auto offset = [](const Array& array) {
    return reinterpret_cast<const char*>(array.bytes()) - array.file()->bytes().data();
  };
  return one.file() && other.file() && offset(one) == offset(other) &&
         same_file(one.file()->path(), other.file()->path());
}

/// The hash of an array, without keeping the memory that the pages of its file take.
std::string hash_of(const Array& value) {
  stop_if_asked();
  std::string hash = ir::value_hash(value);
  if (value.file()) value.file()->was_read(value.byte_size());
  return hash;
}

/// The hash of an array if it is the tensor that a file has; nothing otherwise.
std::optional<std::string> common_hash(const Array& value, const Array& stored) {
  if (value.dtype() != stored.dtype() || value.shape() != stored.shape()) return std::nullopt;
  std::string hash = hash_of(stored);
  if (!same_place(value, stored) && hash_of(value) != hash) return std::nullopt;
  return hash;
}

/// What links.json says.
std::string folder_in(const std::string& path) {
  const Tree document = parse_json(read_file(path), path);
  const Tree* folder = document.is_dict() ? document.find(folder_key) : nullptr;
  if (!folder || !folder->is_string())
    file_error(path + " does not say where the weights are; run mase transform again");
  return folder->as_string();
}

}  // namespace

std::optional<WeightHashes> hashes_of_source(const ir::Graph& graph) {
  const auto origin = huggingface::origin_of(graph);
  if (!origin || !huggingface::has_weight_files(origin->folder)) return std::nullopt;
  const safetensors::Tensors source = huggingface::read_weight_files(origin->folder);
  WeightHashes hashes;
  for (const auto& [path, stored] : origin->tensors) {
    const auto tensor = graph.tensors.find(path);
    const auto found = source.find(stored.key);
    if (tensor == graph.tensors.end() || found == source.end()) return std::nullopt;
    if (!safetensors::is_safetensors(found->second.file)) return std::nullopt;
    auto hash = common_hash(tensor->second.value.as_stored(), found->second.value);
    if (!hash) return std::nullopt;
    hashes.emplace(stored.key, *std::move(hash));
  }
  return hashes;
}

void write_linked_checkpoint(const ir::Graph& graph, const Tree& info, const WeightHashes& hashes,
                             const std::string& folder) {
  const auto origin = huggingface::origin_of(graph);
  MASE_CHECK(origin.has_value(), "a linked checkpoint needs a folder of transformers");
  clear_folder(folder);
  Tree links = Tree::dict();
  links[folder_key] = origin->folder;
  write_file(file_in(folder, links_file), to_json(links) + "\n");
  write_graph_file(graph, info, hashes, *origin, folder);
  write_file(file_in(folder, "config.json"), to_json(origin->config) + "\n");
}

void remove_linked_checkpoint(const std::string& folder) {
  if (!fs::is_directory(folder)) return;
  clear_folder(folder);
  std::error_code has_other_files;
  fs::remove(folder, has_other_files);
}

std::optional<std::string> linked_weights(const std::string& checkpoint) {
  const std::string path = file_in(checkpoint, links_file);
  if (!fs::is_directory(checkpoint) || !file_exists(path)) return std::nullopt;
  std::string folder = folder_in(path);
  if (!fs::is_directory(folder))
    file_error(path + ": the weights are those of the folder " + folder +
               ", which is not there; put it back, or run mase transform again");
  return folder;
}

std::vector<std::string> linked_files(const std::string& path) {
  const std::string in_project = file_in(path, linked_checkpoint);
  std::vector<std::string> files;
  for (const std::string& checkpoint : {path, in_project}) {
    const std::string links = file_in(checkpoint, links_file);
    if (!fs::is_directory(checkpoint) || !file_exists(links)) continue;
    std::error_code unreadable;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_in(links), unreadable)) {
      const std::string file = entry.path().string();
      if (file.ends_with(".safetensors") || safetensors::is_index(file)) files.push_back(file);
    }
  }
  return files;
}

}  // namespace mase::driver
