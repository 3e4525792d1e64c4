// SPDX-License-Identifier: Apache-2.0
// A layer's tensor is tied if the graph holds it elsewhere, with the layer's own name as another.
#include "driver/untied_tensors.hpp"

#include <algorithm>
#include <string>

#include "ir/tensor_readers.hpp"

namespace mase::driver {
namespace {

constexpr const char* tied_key = "tie_word_embeddings";

/// transformers looks for all tensors under the names of the model, or for all without those of its
/// base. The new tensor has the former.
void use_full_names(huggingface::Origin& origin) {
  for (auto& [path, stored] : origin.tensors)
    if (path.ends_with("." + stored.key)) stored.key = path;
}

}  // namespace

bool untie(ir::Graph& graph, huggingface::Origin& origin) {
  const auto readers = ir::tensor_readers(graph);
  bool changed = false;
  for (auto& [module_path, module] : graph.modules)
    for (auto& [argument, path] : module.tensors) {
      const auto reading = readers.find(path), stored = readers.end();
      if (reading == stored || !reading->second.differ || !reading->second.format) continue;
      const std::string own = module_path + "." + argument;
      ir::Tensor& tied = graph.tensors.at(path);
      const auto origin_row = origin.tensors.find(path);
      if (std::erase(tied.other_names, own) == 0 || origin_row == origin.tensors.end()) continue;
      ir::Tensor tensor = tied;
      tensor.other_names.clear();
      huggingface::StoredAs row = origin_row->second;
      row.key = own;
      origin.tensors.emplace(own, row);
      graph.set_tensor(own, std::move(tensor));
      path = own;
      changed = true;
    }
  if (!changed) return false;
  use_full_names(origin);
  origin.config[tied_key] = false;
  huggingface::remember(origin, graph);
  return true;
}

bool is_untied(const huggingface::Origin& origin) {
  const Tree* tied = origin.config.find(tied_key);
  return tied && tied->is_bool() && !tied->as_bool();
}

}  // namespace mase::driver
