// SPDX-License-Identifier: Apache-2.0
// --load: weights, or a whole checkpoint that must be one of the same model.
#include <filesystem>

#include "backend/backend.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "driver/loading/sources.hpp"
#include "ir/text.hpp"

namespace mase::driver {
namespace {

/// The contents of the file to load; nothing if it has weights but no graph of a mase checkpoint.
std::optional<checkpoint::Contents> contents_to_load(const ModelRequest& request) {
  const std::string& path = *request.load_name;
  if (request.load_type == "pt" || request.load_type == "pl") return std::nullopt;
  const bool is_model = request.load_type == "mz" ||
                        checkpoint::open_tensors(path).kind == checkpoint::ArchiveKind::torchscript;
  auto contents = is_model ? checkpoint::read_contents(path) : std::nullopt;
  if (!contents && request.load_type == "mz") no_checkpoint(path);
  return contents;
}

/// The type and shape of a value. The number of rows is left out, since it comes from an example.
std::string row_text(const ir::ValueInfo& info) {
  ir::ValueInfo row = info;
  if (row.is_tensor() && !row.shape.empty()) row.shape.front() = 0;
  return replace_all(ir::print(row), "[0", "[rows");
}

/// "x float32[rows, 16] -> float32[rows, 5]".
std::string interface_text(const ir::Graph& graph) {
  std::vector<std::string> inputs;
  for (const ir::NodeId id : graph.placeholders())
    inputs.push_back(graph.node(id).target + " " + row_text(graph.node(id).info));
  return join(inputs, ", ") + " -> " + row_text(graph.node(graph.output()).info);
}

std::string tensor_text(const ir::Tensor& tensor) {
  return std::string(dtype_name(tensor.value.dtype())) + shape_text(tensor.value.shape());
}

/// A line per tensor that only one graph has, or that has different shapes in the two graphs.
std::vector<std::string> tensor_differences(const ir::Graph& model, const ir::Graph& stored) {
  std::vector<std::string> lines;
  for (const auto& [path, tensor] : model.tensors) {
    const auto other = stored.tensors.find(path);
    if (other == stored.tensors.end())
      lines.push_back("missing in the file: " + path + " " + tensor_text(tensor));
    else if (tensor_text(other->second) != tensor_text(tensor))
      lines.push_back("different: " + path + " is " + tensor_text(other->second) +
                      " in the file and " + tensor_text(tensor) + " in the model");
  }
  for (const auto& [path, tensor] : stored.tensors)
    if (!model.tensors.contains(path))
      lines.push_back("not in the model: " + path + " " + tensor_text(tensor));
  return lines;
}

/// The differences that show that a checkpoint was made from another model. Passes and trials of a
/// search fold, resize and replace tensors. So only name, inputs and results are compared for a
/// transformed checkpoint, and for one that is loaded with load_type "mz".
std::vector<std::string> model_differences(const ir::Graph& model, const ir::Graph& stored,
                                           bool as_it_is) {
  std::vector<std::string> lines;
  const bool transformed = as_it_is || stored.history.size() > 0 || model.history.size() > 0;
  if (transformed && stored.name != model.name)
    lines.push_back("it was made from '" + stored.name + "'");
  const std::string here = interface_text(model), there = interface_text(stored);
  if (here != there) lines.push_back("it computes " + there + ", but the model " + here);
  if (!transformed) {
    const auto tensors = tensor_differences(model, stored);
    lines.insert(lines.end(), tensors.begin(), tensors.end());
  }
  return lines;
}

/// Error(Fault::config) if the checkpoint was not made from this model.
void require_same_model(const ModelRequest& request, const ir::Graph& model,
                        const ir::Graph& stored) {
  std::vector<std::string> lines = model_differences(model, stored, request.load_type == "mz");
  if (lines.empty()) return;
  constexpr std::size_t most = 8;
  if (lines.size() > most) {
    lines.insert(lines.begin() + most, std::to_string(lines.size() - most) + " more differences");
    lines.resize(most + 1);
  }
  config_error(
      "--load " + *request.load_name + " is a checkpoint of another model than '" + request.model +
      "':\n  " + join(lines, "\n  ") +
      "\nName the model it belongs to, or give the checkpoint itself as the model, without "
      "--load");
}

}  // namespace

void apply_load(const ModelRequest& request, LoadedModel& loaded) {
  if (!request.load_name) return;
  const std::string& path = *request.load_name;
  if (!std::filesystem::exists(path)) file_error(path + ": no such file (--load)");
  loaded.untrained = false;
  if (request.load_type != "mz" && load_tensors(path, loaded.graph)) return;
  auto contents = contents_to_load(request);
  if (!contents) {
    backend::open().load_state_dict(path, loaded.graph);
    return;
  }
  LoadedModel stored = with_weights(std::move(*contents));
  require_same_model(request, loaded.graph, stored.graph);
  loaded.graph = std::move(stored.graph);
  loaded.info = std::move(stored.info);
}

}  // namespace mase::driver
