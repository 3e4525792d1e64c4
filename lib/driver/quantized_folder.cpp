// SPDX-License-Identifier: Apache-2.0
// Writes the weights, then what belongs to them, and config.json last.
#include "driver/quantized_folder.hpp"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "driver/folded_tensors.hpp"
#include "driver/folder_weights.hpp"
#include "driver/stored_data.hpp"
#include "driver/untied_tensors.hpp"
#include "huggingface/origin.hpp"
#include "ir/folding.hpp"
#include "ir/text.hpp"
#include "safetensors/safetensors.hpp"
#include "tokenizer/tokenizer.hpp"

namespace mase::driver {
namespace {

namespace fs = std::filesystem;
using huggingface::Origin;

constexpr const char* tokenizer_name = "tokenizer.json";

std::string in_folder(const std::string& folder, std::string_view name) {
  return (fs::path(folder) / name).string();
}

Origin required_origin(const ir::Graph& graph) {
  auto origin = huggingface::origin_of(graph);
  if (!origin)
    unsupported_error(
        "the model was not read from a folder of transformers, so there is no config.json for a "
        "folder; write FILE.safetensors (its weights) or FILE.pt2 (a program of PyTorch)");
  return std::move(*origin);
}

/// Error if transformers could not load the graph's tensors by the origin's config.json.
void check_fit(const ir::Graph& graph, const Origin& origin) {
  std::vector<std::string> lines;
  for (const auto& [path, stored] : origin.tensors) {
    const auto found = graph.tensors.find(path);
    if (found == graph.tensors.end())
      lines.push_back(path + " is missing");
    else if (found->second.value.shape() != stored.shape)
      lines.push_back(path + " is " + shape_text(found->second.value.shape()) + ", not " +
                      shape_text(stored.shape));
  }
  if (lines.empty()) return;
  constexpr std::size_t most = 8;
  if (lines.size() > most) {
    lines.insert(lines.begin() + most, std::to_string(lines.size() - most) + " more");
    lines.resize(most + 1);
  }
  unsupported_error("passes have changed the layers, so config.json no longer describes them:\n  " +
                    join(lines, "\n  ") + "\nWrite FILE.pt2 or FILE.safetensors instead");
}

/// The tensors that config.json implies.
std::map<std::string, Array> own_tensors(const ir::Graph& graph, const Origin& origin) {
  std::map<std::string, Array> tensors;
  for (const auto& [path, tensor] : graph.tensors)
    if (!origin.tensors.contains(path)) tensors.emplace(path, tensor.value);
  return tensors;
}

/// config.json with the type of the weights under the names that transformers has given it.
Tree config_with(const Tree& config, DType dtype) {
  Tree out = config;
  bool named = false;
  for (const char* key : {"dtype", "torch_dtype"})
    if (config.find(key)) {
      out[key] = dtype_name(dtype);
      named = true;
    }
  if (!named) out["torch_dtype"] = dtype_name(dtype);
  return out;
}

/// The metadata of a model, without what a checkpoint says of its own file.
Tree kept_info(const Tree& info) {
  constexpr std::string_view of_file[] = {"format_version", "history", "tensor_hash",
                                          "quantized_tensors", "hashes"};
  Tree kept = Tree::dict();
  if (info.is_dict())
    for (const auto& [key, value] : info.as_dict())
      if (std::ranges::find(of_file, key) == std::end(of_file)) kept[key] = value;
  return kept;
}

/// Whether the data of the model are texts that went through the tokenizer of its folder.
bool has_own_tokenizer(const Tree& info, const Origin& origin) {
  const auto data = data_in(info, origin.folder);
  const auto tokenizer = data ? data->options.tokenizer : std::nullopt;
  if (!tokenizer || std::ranges::count(origin.files, tokenizer_name) == 0) return false;
  const std::string own = in_folder(origin.folder, tokenizer_name);
  const fs::path place = fs::absolute(*tokenizer).lexically_normal();  // which may be gone
  return place == origin.folder || place == own ||
         same_file(tokenizer::tokenizer_file(*tokenizer), own);
}

/// Writes the tensors that transformers makes itself, and returns their hashes.
Tree write_own_tensors(const ir::Graph& graph, const Origin& origin, const std::string& folder) {
  const auto tensors = own_tensors(graph, origin);
  if (!tensors.empty()) safetensors::write_tensors(in_folder(folder, own_tensors_file), tensors);
  Tree hashes = Tree::dict();
  for (const auto& [path, value] : tensors) hashes[path] = ir::value_hash(value);
  return hashes;
}

/// The files to copy, read before anything is written.
std::map<std::string, std::string> companions_of(const Origin& origin,
                                                 const std::string& other_source) {
  const std::string& from = other_source.empty() ? origin.folder : other_source;
  std::map<std::string, std::string> files;
  for (const std::string& name : origin.files) try {
      files[name] = read_file(in_folder(from, name));
    } catch (const Error& error) {
      file_error(std::string(error.what()) +
                 "; the model was read with this file. --source FOLDER says where it is now, and "
                 "lets the command read it");
    }
  return files;
}

void tell(const FolderWeights& written, const std::string& folder) {
  if (!written.kept.empty())
    log::warning(folder + ": the tensors " + join(written.kept, ", ") +
                 " are written as they are, since their readers do not agree on a format, or one "
                 "whose values it changes again; transformers computes with them unquantized");
}

}  // namespace

std::int64_t parse_shard_size(const std::string& text) {
  constexpr std::pair<std::string_view, std::int64_t> units[] = {{"GIB", std::int64_t{1} << 30},
                                                                 {"MIB", std::int64_t{1} << 20},
                                                                 {"KIB", std::int64_t{1} << 10},
                                                                 {"GB", 1'000'000'000},
                                                                 {"MB", 1'000'000},
                                                                 {"KB", 1'000},
                                                                 {"", 1}};
  std::string upper = text;
  std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return std::toupper(c); });
  for (const auto& [unit, bytes] : units) {
    if (!upper.ends_with(unit)) continue;
    const std::string digits = upper.substr(0, upper.size() - unit.size());
    const bool whole = !digits.empty() && digits.size() <= 9 + (unit.empty() ? 6 : 0) &&
                       digits.find_first_not_of("0123456789") == std::string::npos;
    if (whole && std::stoll(digits) > 0) {
      std::int64_t product = 0;
      if (!__builtin_mul_overflow(std::int64_t{std::stoll(digits)}, bytes, &product))
        return product;
    }
    break;
  }
  config_error("--max-shard-size " + text + ": it is a size such as 5GB, 200MB or 1GiB");
}

void require_empty_folder(const std::string& folder) {
  std::error_code error;
  if (!file_exists(folder) || (fs::is_directory(folder, error) && fs::is_empty(folder, error)))
    return;
  config_error("'" + folder +
               "' exists and is not an empty folder; name another one, or give "
               "--overwrite");
}

void require_source(const ir::Graph& graph, const std::string& source) {
  companions_of(required_origin(graph), source);
}

void clear_folder(const std::string& folder) {
  make_folder(folder);
  for (const std::string_view name :
       {std::string_view("config.json"), graph_file, own_tensors_file, links_file})
    remove_file(in_folder(folder, name));
}

void write_graph_file(const ir::Graph& graph, const Tree& info, const WeightHashes& weights,
                      const Origin& origin, const std::string& folder) {
  Tree document = Tree::dict();
  document["format_version"] = folder_version;
  document["info"] = kept_info(info);
  document["graph"] = Tree::list_of(split(ir::print(graph), '\n'));
  document[weight_hashes_key] = tree_of_hashes(weights);
  document[own_hashes_key] = write_own_tensors(graph, origin, folder);
  write_file(in_folder(folder, graph_file), to_json(document) + "\n");
}

Tree write_quantized_folder(const ir::Graph& tied, const Tree& info, const std::string& folder,
                            const FolderRequest& request) {
  Origin origin = required_origin(tied);
  ir::Graph graph = tied;
  untie(graph, origin);
  const ir::Graph complete = with_folded_tensors(graph, origin, request);
  check_fit(complete, origin);
  if (same_file(folder, origin.folder))
    config_error(folder + " is the folder that the model was read from; name another one");
  const auto companions = companions_of(origin, request.source);
  clear_folder(folder);
  const FolderWeights written =
      write_folder_weights(complete, origin, folder, request.max_shard_size);
  for (const auto& [name, bytes] : companions) write_file(in_folder(folder, name), bytes);
  Tree described = info.is_dict() ? info : Tree::dict();
  if (has_own_tokenizer(info, origin)) described[own_tokenizer_key] = true;
  write_graph_file(graph, described, written.hashes, origin, folder);
  write_file(in_folder(folder, "config.json"),
             to_json(config_with(origin.config, written.dtype)) + "\n");
  tell(written, folder);
  Tree document = Tree::dict();
  document["tensors"] = origin.tensors.size();
  document["quantized"] = written.quantized;
  document["dtype"] = dtype_name(written.dtype);
  document["bytes"] = written.bytes;
  document["files"] = Tree::list_of(written.files);
  return document;
}

}  // namespace mase::driver
