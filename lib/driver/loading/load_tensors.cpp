// SPDX-License-Identifier: Apache-2.0
// --load of what has tensors by the keys of a state_dict, and no Python: safetensors, whose tensors
// stay in their files, in one file or with an index of several, folders of transformers, and
// FILE.pt2.
#include <algorithm>
#include <set>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "driver/linked_checkpoint.hpp"
#include "driver/loading/sources.hpp"
#include "huggingface/weight_files.hpp"
#include "pt2/program.hpp"
#include "safetensors/safetensors.hpp"

namespace mase::driver {
namespace {

using safetensors::StoredTensor;
using safetensors::Tensors;

/// The state_dict of an exported program, without the constants of its graph.
Tensors tensors_of_program(const std::string& path) {
  pt2::Program program = pt2::read_program(path);
  for (const pt2::InputSpec& input : program.inputs)
    if (input.kind == pt2::InputSpec::Kind::constant) program.values.erase(input.path);
  Tensors tensors;
  for (auto& [name, value] : program.values) tensors.emplace(name, StoredTensor{value, path});
  return tensors;
}

bool is_linked(const std::string& path) { return linked_weights(path).has_value(); }

Tensors tensors_of_index(const std::string& path) { return safetensors::read_shards(path); }

/// A kind of file with tensors, or of folder.
struct TensorFile {
  bool (*is)(const std::string& path);
  Tensors (*read)(const std::string& path);
};
constexpr TensorFile tensor_files[] = {
    {is_linked, read_linked_weights},
    {huggingface::has_weight_files, huggingface::read_weight_files},
    {safetensors::is_index, tensors_of_index},
    {safetensors::is_safetensors, safetensors::read_tensors},
    {pt2::is_exported_program, tensors_of_program},
};

std::string typed_shape(const Array& array) {
  return std::string(dtype_name(array.dtype())) + shape_text(array.shape());
}

/// The tensors that layers read. Others are tables and constants, which a file may leave out.
std::set<std::string> tensors_of_layers(const ir::Graph& graph) {
  std::set<std::string> names;
  for (const auto& [path, module] : graph.modules)
    for (const auto& [argument, tensor] : module.tensors) names.insert(tensor);
  return names;
}

/// What the file has for a tensor of the graph under any of its names; null if nothing.
const StoredTensor* stored_for(const Tensors& file, const std::string& path,
                               const ir::Tensor& tensor) {
  for (const std::string& name : ir::names_of(path, tensor))
    if (const auto found = file.find(name); found != file.end()) return &found->second;
  return nullptr;
}

bool fits(const Array& stored, const Array& wanted) {
  const bool converts = is_floating(stored.dtype()) && wanted.dtype() == DType::float32;
  return stored.shape() == wanted.shape() && (stored.dtype() == wanted.dtype() || converts);
}

Array as_wanted(const Array& stored, const Array& wanted) {
  if (stored.dtype() == wanted.dtype()) return stored;
  return Array::widened(stored);
}

/// A line for each tensor that the file lacks, has otherwise, or has besides.
std::vector<std::string> faults(const Tensors& file, const ir::Graph& graph) {
  const std::set<std::string> of_layers = tensors_of_layers(graph);
  std::vector<std::string> lines;
  for (const auto& [path, tensor] : graph.tensors) {
    const StoredTensor* stored = stored_for(file, path, tensor);
    if (!stored && (tensor.is_parameter || of_layers.contains(path)))
      lines.push_back("missing in the file: " + path + " " + typed_shape(tensor.value));
    if (stored && !fits(stored->value, tensor.value))
      lines.push_back("different: " + path + " is " + typed_shape(stored->value) +
                      " in the file and " + typed_shape(tensor.value) + " in the model");
  }
  for (const auto& [name, stored] : file)
    if (!graph.tensor_named(name))
      lines.push_back("not in the model: " + name + " " + typed_shape(stored.value));
  return lines;
}

}  // namespace

bool load_tensors(const std::string& path, ir::Graph& graph) {
  const auto* row =
      std::ranges::find_if(tensor_files, [&](const TensorFile& one) { return one.is(path); });
  if (row == std::end(tensor_files)) return false;
  const Tensors file = row->read(path);
  const std::vector<std::string> lines = faults(file, graph);
  if (!lines.empty())
    file_error("the tensors of '" + path + "' do not fit the model:\n  " + join(lines, "\n  "));
  std::vector<std::string> kept;
  for (auto& [name, tensor] : graph.tensors)
    if (const StoredTensor* stored = stored_for(file, name, tensor))
      tensor.value = as_wanted(stored->value, tensor.value);
    else if (!name.starts_with("_tensor_constant"))
      kept.push_back(name);
  if (!kept.empty()) log::info(path + ": the model's own values stay for " + join(kept, ", "));
  return true;
}

}  // namespace mase::driver
