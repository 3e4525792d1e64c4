// SPDX-License-Identifier: Apache-2.0
// Folders of transformers. The graph is built without LibTorch; inputs without an example are
// small.
#include "huggingface/import.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "driver/loading/sources.hpp"

namespace mase::driver {
namespace {

/// No token is padding unless the user says so.
Array unmasked(const Shape& shape) {
  Array mask(DType::int64, shape);
  std::ranges::fill(mask.mutable_span<std::int64_t>(), 1);
  return mask;
}

}  // namespace

std::optional<LoadedModel> from_huggingface(const ModelRequest& request) {
  if (!looks_like_path(request.model) || !huggingface::is_model_folder(request.model))
    return std::nullopt;
  const std::vector<std::string> names = huggingface::inputs_of(request.model);
  std::map<std::string, Array> examples = by_name(requested_inputs(request, names), names);
  const auto ids = examples.find("input_ids");
  if (ids != examples.end()) examples.try_emplace("attention_mask", unmasked(ids->second.shape()));
  huggingface::Imported imported = huggingface::import_folder(request.model, examples);
  for (const std::string& note : imported.notes) log::warning(request.model + ": " + note);
  LoadedModel loaded;
  loaded.graph = std::move(imported.graph);
  take_built_graph(request, "a folder of transformers", loaded.graph);
  loaded.example = in_order(loaded.graph, examples);
  return loaded;
}

}  // namespace mase::driver
