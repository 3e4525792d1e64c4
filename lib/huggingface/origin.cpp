// SPDX-License-Identifier: Apache-2.0
// The origin as a dict: "folder", "config", "files" and "tensors".
#include "huggingface/origin.hpp"

#include <algorithm>
#include <filesystem>

#include "base/error.hpp"
#include "base/file.hpp"

namespace mase::huggingface {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view origin_key = "transformers";

/// The files beside config.json and the weights that transformers reads.
constexpr std::string_view companions[] = {"generation_config.json",
                                           "preprocessor_config.json",
                                           "processor_config.json",
                                           "tokenizer.json",
                                           "tokenizer_config.json",
                                           "special_tokens_map.json",
                                           "added_tokens.json",
                                           "vocab.json",
                                           "vocab.txt",
                                           "merges.txt",
                                           "tokenizer.model",
                                           "spiece.model",
                                           "sentencepiece.bpe.model",
                                           "chat_template.jinja",
                                           "chat_template.json"};

Tree tree_of(const std::string& path, const StoredAs& stored) {
  Tree tree = Tree::dict();
  if (stored.key != path) tree["key"] = stored.key;
  tree["dtype"] = dtype_name(stored.dtype);
  tree["shape"] = Tree::list_of(stored.shape);
  return tree;
}

[[noreturn]] void damaged(const std::string& what) {
  file_error("what the graph says of its folder of transformers is damaged (" + what +
             "); transform the folder again");
}

const Tree& part(const Tree& tree, std::string_view key) {
  const Tree* found = tree.is_dict() ? tree.find(key) : nullptr;
  if (!found) damaged("'" + std::string(key) + "' is missing");
  return *found;
}

const std::string& text_in(const Tree& tree, std::string_view key) {
  const Tree& found = part(tree, key);
  if (!found.is_string()) damaged("'" + std::string(key) + "' is not a text");
  return found.as_string();
}

StoredAs stored_in(const std::string& path, const Tree& tree) {
  StoredAs stored{path, {}, parse_dtype(text_in(tree, "dtype"))};
  if (tree.find("key")) stored.key = text_in(tree, "key");
  const Tree& shape = part(tree, "shape");
  if (!shape.is_list()) damaged("'shape' is not a list");
  for (const Tree& size : shape.as_list()) {
    if (!size.is_int() || size.as_int() < 0) damaged("'shape' of " + path);
    stored.shape.push_back(size.as_int());
  }
  return stored;
}

}  // namespace

DType Origin::dtype() const {
  std::optional<DType> common;
  for (const auto& [path, stored] : tensors) {
    if (!is_floating(stored.dtype)) continue;
    if (common && *common != stored.dtype) return DType::float32;
    common = stored.dtype;
  }
  const bool is_narrow = common == DType::float16 || common == DType::bfloat16;
  return is_narrow ? *common : DType::float32;
}

Origin origin_of_folder(const std::string& folder, const Weights& weights) {
  Origin origin;
  const fs::path place = fs::absolute(folder).lexically_normal();
  origin.folder = place.string();
  const std::string config = (place / "config.json").string();
  origin.config = parse_json(read_file(config), config);
  origin.tensors = weights.in_files();
  for (const std::string_view name : companions)
    if (file_exists((place / name).string())) origin.files.emplace_back(name);
  return origin;
}

void remember(const Origin& origin, ir::Graph& graph) {
  Tree tree = Tree::dict();
  tree["folder"] = origin.folder;
  tree["config"] = origin.config;
  tree["files"] = Tree::list_of(origin.files);
  tree["tensors"] = Tree::dict();
  for (const auto& [path, stored] : origin.tensors) tree["tensors"][path] = tree_of(path, stored);
  if (!graph.source.is_dict()) graph.source = Tree::dict();
  graph.source[origin_key] = std::move(tree);
}

std::optional<Origin> origin_of(const ir::Graph& graph) {
  const Tree* tree = graph.source.is_dict() ? graph.source.find(origin_key) : nullptr;
  if (!tree) return std::nullopt;
  Origin origin;
  origin.folder = text_in(*tree, "folder");
  origin.config = part(*tree, "config");
  if (!origin.config.is_dict()) damaged("'config' is not a table");
  const Tree& files = part(*tree, "files");
  if (!files.is_list()) damaged("'files' is not a list");
  for (const Tree& name : files.as_list()) {
    const bool known =
        name.is_string() && std::ranges::find(companions, name.as_string()) != std::end(companions);
    if (!known) damaged("'files' names one that is not known");
    origin.files.push_back(name.as_string());
  }
  const Tree& tensors = part(*tree, "tensors");
  if (!tensors.is_dict()) damaged("'tensors' is not a table");
  for (const auto& [path, entry] : tensors.as_dict())
    origin.tensors.emplace(path, stored_in(path, entry));
  return origin;
}

}  // namespace mase::huggingface
