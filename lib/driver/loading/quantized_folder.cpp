// SPDX-License-Identifier: Apache-2.0
// Folders that `mase transform` and `mase convert` write: the graph is in mase.json, the weights
// stay in their files.
#include "driver/quantized_folder.hpp"

#include <algorithm>
#include <filesystem>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "driver/linked_checkpoint.hpp"
#include "driver/loading/initial_state.hpp"
#include "driver/loading/sources.hpp"
#include "driver/stored_data.hpp"
#include "driver/weight_hashes.hpp"
#include "huggingface/origin.hpp"
#include "huggingface/weight_files.hpp"
#include "ir/allowed_operators.hpp"
#include "ir/text.hpp"
#include "ir/verify.hpp"
#include "safetensors/safetensors.hpp"

namespace mase::driver {
namespace {

using safetensors::StoredTensor;
using safetensors::Tensors;

std::string path_in(const std::string& folder, std::string_view name) {
  return (std::filesystem::path(folder) / name).string();
}

Tree read_document(const std::string& path) {
  Tree document = parse_json(read_file(path), path);
  const Tree* version = document.is_dict() ? document.find("format_version") : nullptr;
  const Tree* graph = document.is_dict() ? document.find("graph") : nullptr;
  if (!version || !version->is_int() || !graph || !graph->is_list())
    file_error(path + ": 'format_version' or 'graph' is missing; write the folder again");
  if (version->as_int() != folder_version)
    file_error(path + " has format version " + std::to_string(version->as_int()) +
               ", but this program reads version " + std::to_string(folder_version) +
               "; write the folder again with this program");
  return document;
}

ir::Graph graph_in(const Tree& document, const std::string& path, std::size_t most_bytes) {
  std::string text;
  for (const Tree& line : document.at("graph").as_list()) {
    if (!line.is_string()) file_error(path + ": 'graph' has something else than lines");
    text += line.as_string() + "\n";
  }
  ir::Graph graph = ir::parse(text, path + ":graph", most_bytes);
  const std::vector<std::string> problems = ir::verify(graph);
  if (!problems.empty())
    file_error(path + ": no valid graph: " + join(problems, "; ") + "; write the folder again");
  ir::require_allowed(graph, path);
  return graph;
}

std::size_t bytes_of(const Tensors& tensors) {
  std::size_t bytes = 0;
  for (const auto& [name, tensor] : tensors)
    bytes += static_cast<std::size_t>(tensor.value.size()) *
             std::max(sizeof(float), size_of(tensor.value.dtype()));
  return bytes;
}

/// Tensors of files, and what mase.json says of them.
struct Source {
  Tensors tensors;
  WeightHashes hashes;
};

Source source_of(Tensors tensors, const Tree& document, std::string_view key,
                 const std::string& path) {
  const Tree* hashes = document.find(key);
  return {std::move(tensors), hashes_in(hashes ? *hashes : Tree(), path)};
}

/// The files' tensors by their paths in the graph.
void fill(ir::Graph& graph, const std::string& folder, const Source& weights, const Source& own) {
  const auto origin = huggingface::origin_of(graph);
  if (!origin)
    file_error(path_in(folder, graph_file) +
               ": the graph does not say which tensors it has from "
               "the files; write the folder again");
  for (auto& [path, tensor] : graph.tensors) {
    const auto stored = origin->tensors.find(path);
    const Source& source = stored == origin->tensors.end() ? own : weights;
    const std::string& key = stored == origin->tensors.end() ? path : stored->second.key;
    const auto found = source.tensors.find(key);
    if (found == source.tensors.end()) file_error(folder + ": the tensor '" + key + "' is missing");
    const Array& value = found->second.value;
    const DType dtype = tensor.value.dtype();
    const bool widens = is_floating(value.dtype()) && dtype == DType::float32;
    if (value.shape() != tensor.value.shape() || (value.dtype() != dtype && !widens))
      file_error(found->second.file + ": the tensor '" + key + "' is " +
                 std::string(dtype_name(value.dtype())) + shape_text(value.shape()) + ", but " +
                 std::string(dtype_name(dtype)) + shape_text(tensor.value.shape()) +
                 " in the graph of " + std::string(graph_file));
    const Array same = checked(found->second, key, source.hashes);
    tensor.value = widens ? Array::widened(same) : same;
  }
}

/// The metadata, whose data name the folder where its own tokenizer made them.
Tree info_in(const Tree& document, const std::string& folder) {
  const Tree* stored = document.find("info");
  if (!stored || !stored->is_dict() || !stored->find(own_tokenizer_key))
    return stored ? *stored : Tree();
  Tree info = Tree::dict();
  for (const auto& [key, value] : stored->as_dict())
    if (key != own_tokenizer_key) info[key] = value;
  if (auto data = data_in(info, folder)) {
    data->options.tokenizer = folder;
    info["data"] = data->tree();
  }
  return info;
}

/// From now on the folder has what belongs to the model.
void move_origin(ir::Graph& graph, const std::string& folder) {
  auto origin = huggingface::origin_of(graph);
  origin->folder = std::filesystem::absolute(folder).lexically_normal().string();
  huggingface::remember(*origin, graph);
}

}  // namespace

bool is_quantized_folder(const std::string& path) {
  return std::filesystem::is_directory(path) && file_exists(path_in(path, graph_file)) &&
         file_exists(path_in(path, "config.json"));
}

Tree quantized_folder_info(const std::string& folder) {
  return info_in(read_document(path_in(folder, graph_file)), folder);
}

Tensors read_linked_weights(const std::string& checkpoint) {
  const std::string path = path_in(checkpoint, graph_file);
  const Source weights =
      source_of(huggingface::read_weight_files(linked_weights(checkpoint).value()),
                read_document(path), weight_hashes_key, path);
  Tensors tensors;
  for (const auto& [name, stored] : weights.tensors)
    tensors.emplace(name, StoredTensor{checked(stored, name, weights.hashes), stored.file});
  return tensors;
}

std::optional<LoadedModel> from_quantized_folder(const ModelRequest& request) {
  const std::string& folder = request.model;
  if (!looks_like_path(folder) || !is_quantized_folder(folder)) return std::nullopt;
  const std::string path = path_in(folder, graph_file);
  const Tree document = read_document(path);
  const auto linked = linked_weights(folder);
  const Source weights = source_of(huggingface::read_weight_files(linked.value_or(folder)),
                                   document, weight_hashes_key, path);
  const std::string own_file = path_in(folder, own_tensors_file);
  const Source own =
      source_of(file_exists(own_file) ? safetensors::read_tensors(own_file) : Tensors(), document,
                own_hashes_key, path);
  LoadedModel loaded;
  loaded.graph = graph_in(document, path, bytes_of(weights.tensors) + bytes_of(own.tensors));
  fill(loaded.graph, folder, weights, own);
  if (!linked) move_origin(loaded.graph, folder);
  loaded.info = info_in(document, folder);
  take_built_graph(request, "a quantized folder", loaded.graph);
  loaded.example =
      with_initial_state(loaded.graph, requested_inputs(request, input_names(loaded.graph)));
  loaded.has_shapes = knows_shapes(loaded);
  return loaded;
}

}  // namespace mase::driver
