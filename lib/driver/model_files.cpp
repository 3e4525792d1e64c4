// SPDX-License-Identifier: Apache-2.0
// The table of writers.
#include "driver/model_files.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <vector>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "driver/quantized_folder.hpp"
#include "driver/save_checkpoint.hpp"
#include "pt2/export.hpp"
#include "safetensors/safetensors.hpp"
#include "sandbox/policy.hpp"

namespace mase::driver {
namespace {

Tree numbers(std::size_t nodes, std::size_t tensors) {
  Tree document = Tree::dict();
  document["nodes"] = nodes;
  document["tensors"] = tensors;
  return document;
}

Tree write_onnx(const ModelFile& file) {
  return write_onnx_file(file.graph, file.path, file.request);
}

Tree write_torchscript(const ModelFile& file) {
  save_checkpoint(file.graph, file.path, file.info);
  return numbers(file.graph.order().size(), file.graph.tensors.size());
}

/// The keys of the state_dict, tied ones included, but not the constants of the model's code.
Tree write_weights(const ModelFile& file) {
  std::map<std::string, Array> tensors;
  for (const auto& [path, tensor] : file.graph.tensors)
    if (!path.starts_with("_tensor_constant") && tensor.begins.empty())
      for (const std::string& name : ir::names_of(path, tensor)) tensors[name] = tensor.value;
  safetensors::write_tensors(file.path, tensors);
  Tree document = Tree::dict();
  document["tensors"] = tensors.size();
  return document;
}

Tree free_size(const pt2::FreeSize& size) {
  Tree document = Tree::dict();
  document["symbol"] = size.symbol;
  document["inputs"] = Tree::list();
  for (const auto& [name, dim] : size.places)
    document["inputs"].push_back(Tree(Tree::Dict{{"name", name}, {"dim", dim}}));
  document["min"] = size.least;
  document["max"] = size.most ? Tree(*size.most) : Tree();
  return document;
}

Tree write_exported_program(const ModelFile& file) {
  ir::Graph graph = file.graph;
  if (file.request.format == "float")
    for (const ir::NodeId id : graph.order()) graph.node(id).formats.clear();
  const pt2::ExportNotes notes = pt2::export_program(graph, file.path, file.request.allow_loss);
  Tree document = numbers(notes.nodes, notes.tensors);
  document["free_sizes"] = Tree::list();
  for (const pt2::FreeSize& size : notes.free_sizes)
    document["free_sizes"].push_back(free_size(size));
  document["losses"] = Tree::list_of(notes.losses);
  return document;
}

Tree write_folder(const ModelFile& file) {
  return write_quantized_folder(
      file.graph, file.info, file.path,
      {parse_shard_size(file.request.max_shard_size), file.request.source, file.before});
}

constexpr std::string_view onnx_dialects[] = {"float", "qdq", "qonnx"};
constexpr std::string_view float_alone[] = {"float"};
constexpr ModelWriter model_writers[] = {
    {".onnx", "ONNX", onnx_dialects, write_onnx},
    {".pt2", "exported program of PyTorch", float_alone, write_exported_program},
    {".pt", "TorchScript", {}, write_torchscript},
    {".safetensors", "weights", {}, write_weights},
    {"/", "folder of transformers", {}, write_folder},
};

std::string endings() {
  std::vector<std::string> texts;
  for (const ModelWriter& row : model_writers)
    texts.push_back(std::string(row.ending) + " (" + std::string(row.kind) + ")");
  const std::string last = texts.back();
  texts.pop_back();
  return join(texts, ", ") + " or " + last;
}

}  // namespace

const ModelWriter& writer_of(const std::string& path, const OnnxFileRequest& request,
                             bool overwrite) {
  const auto* row = std::ranges::find_if(
      model_writers, [&](const ModelWriter& one) { return path.ends_with(one.ending); });
  if (row == std::end(model_writers)) config_error(path + ": the name must end in " + endings());
  if (request.format != "auto" &&
      std::ranges::find(row->dialects, request.format) == row->dialects.end())
    config_error("format " + request.format + ": a " + std::string(row->ending) +
                 " file does not have it; .onnx files have " +
                 join({std::begin(onnx_dialects), std::end(onnx_dialects)}, ", "));
  parse_shard_size(request.max_shard_size);
  if (row->is_folder() && file_exists(path) && !std::filesystem::is_directory(path))
    config_error(path + " is a file; name a folder");
  if (!overwrite) row->is_folder() ? require_empty_folder(path) : require_new_file(path);
  return *row;
}

void will_write(const ModelWriter& writer, const std::string& path) {
  if (writer.is_folder())
    sandbox::may_write(path);
  else
    sandbox::will_output(path);
}

}  // namespace mase::driver
