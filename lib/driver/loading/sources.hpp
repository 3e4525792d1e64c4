// SPDX-License-Identifier: Apache-2.0
// What a model name may stand for, and what the sources of models share.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/archive.hpp"
#include "driver/loading/load_model.hpp"
#include "driver/loading/model_input.hpp"
#include "safetensors/safetensors.hpp"

namespace mase::driver {

/// A kind of model. `load` gives the graph with its weights and example inputs, or nothing if the
/// request names no model of this kind.
struct ModelSource {
  std::string_view name;
  std::optional<LoadedModel> (*load)(const ModelRequest&);
};

/// The models that are built in C++. It takes every name that does not look like a path.
std::optional<LoadedModel> from_registry(const ModelRequest& request);
/// Exported programs of PyTorch (.pt2).
std::optional<LoadedModel> from_exported_program(const ModelRequest& request);
/// Folders that mase wrote for transformers.
std::optional<LoadedModel> from_quantized_folder(const ModelRequest& request);
bool is_quantized_folder(const std::string& path);
/// The tensors of a linked checkpoint, which are compared with its hashes when they are read.
safetensors::Tensors read_linked_weights(const std::string& checkpoint);
/// What the folder says of its origin, as a checkpoint's metadata.
Tree quantized_folder_info(const std::string& folder);
/// Folders that transformers wrote (config.json and *.safetensors).
std::optional<LoadedModel> from_huggingface(const ModelRequest& request);
/// Files that mase wrote.
std::optional<LoadedModel> from_checkpoint(const ModelRequest& request);
/// Files of ONNX (.onnx).
std::optional<LoadedModel> from_onnx(const ModelRequest& request);
/// Files of torch.jit.script and torch.jit.trace. It takes every file, and needs LibTorch.
std::optional<LoadedModel> from_torchscript(const ModelRequest& request);

/// In the order in which they are asked.
std::span<const ModelSource> model_sources();

/// Whether a model is a file that mase or TorchScript may have written: not one of ONNX, nor an
/// exported program, nor a folder.
bool may_be_checkpoint(const std::string& path);

/// Whether the name is that of a file, whether it is there or not.
bool looks_like_path(const std::string& model);

/// The example inputs that the request names, or none. `names` are the model's arguments or inputs;
/// inputs that are given by name are put into this order.
ExampleInputs requested_inputs(const ModelRequest& request, const std::vector<std::string>& names);

/// The examples by the names of the inputs that they are for. Error(Fault::config) for more
/// examples than there are names.
std::map<std::string, Array> by_name(ExampleInputs examples, const std::vector<std::string>& names);
/// The examples in the order of the graph's inputs. Where there is none, state has the values that
/// it begins with, and other inputs are zeros.
std::vector<Array> in_order(const ir::Graph& graph, const std::map<std::string, Array>& examples);
/// Whether the model has what every node of its graph gives for its example.
bool knows_shapes(const LoadedModel& model);
/// An imported graph with these examples. The log gets what the import noted.
LoadedModel with_examples(const ModelRequest& request, ir::Graph graph,
                          const std::vector<std::string>& notes,
                          const std::map<std::string, Array>& examples);

/// The given option that needs the source's modules or functions; null if there is none.
const char* option_about_modules(const ModelInput& input);
/// The arguments fixed by the configuration and by the command line.
std::map<std::string, Tree> fixed_values(const ModelRequest& request);

/// Error(Fault::config) for an option that an import from source needs, with a model whose graph
/// already exists; `what` it is, for the message. Nothing if the option is null.
void refuse_option(const ModelRequest& request, const char* option, const std::string& what);

/// Applies the request to a graph that was not imported for it; `what` it is, for messages.
/// Error(Fault::config) for options of an import.
void take_built_graph(const ModelRequest& request, const std::string& what, ir::Graph& graph);

/// The graph of the checkpoint, with its weights.
LoadedModel with_weights(checkpoint::Contents contents);

/// Error(Fault::file): the file is TorchScript, but mase did not write it.
[[noreturn]] void no_checkpoint(const std::string& path);

/// Replaces the values of a graph's tensors by those of safetensors (a file, or an index of
/// several), of a folder of transformers or of an exported program; false for others.
/// Error(Fault::file) that names each tensor that does not fit.
bool load_tensors(const std::string& path, ir::Graph& graph);

/// Starts from the file of --load, if there is one: a checkpoint of the same model replaces the
/// graph, other files give weights only.
void apply_load(const ModelRequest& request, LoadedModel& loaded);

}  // namespace mase::driver
