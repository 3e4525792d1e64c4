// SPDX-License-Identifier: Apache-2.0
// Checkpoints of mase, whose graph needs no import and no LibTorch.
#include "base/error.hpp"
#include "driver/loading/initial_state.hpp"
#include "driver/loading/sources.hpp"
#include "ir/allowed_operators.hpp"

namespace mase::driver {

void no_checkpoint(const std::string& path) {
  file_error(path +
             " is a TorchScript model, but not a checkpoint of mase; `mase init` writes a "
             "configuration that quantizes it, and `mase transform` makes a checkpoint with it");
}

LoadedModel with_weights(checkpoint::Contents contents) {
  ir::require_allowed(contents.graph, contents.archive.origin());
  LoadedModel loaded{std::move(contents.graph), std::move(contents.info), {}, false};
  checkpoint::load_tensors(contents.archive, loaded.graph);
  return loaded;
}

std::optional<LoadedModel> from_checkpoint(const ModelRequest& request) {
  auto contents = checkpoint::read_contents(request.model);
  if (!contents) return std::nullopt;
  LoadedModel loaded = with_weights(std::move(*contents));
  take_built_graph(request, "a checkpoint", loaded.graph);
  loaded.example =
      with_initial_state(loaded.graph, requested_inputs(request, input_names(loaded.graph)));
  return loaded;
}

LoadedModel load_checkpoint(const std::string& path) {
  ModelRequest request;
  request.model = path;
  for (const auto& source : {from_quantized_folder, from_onnx, from_exported_program})
    if (auto model = source(request)) return std::move(*model);
  auto contents = checkpoint::read_contents(path);
  if (!contents) no_checkpoint(path);
  return with_weights(std::move(*contents));
}

}  // namespace mase::driver
