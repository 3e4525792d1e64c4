// SPDX-License-Identifier: Apache-2.0
// Reads values of a graph's tensors from TorchScript files and state_dicts.
#include "torch/import/state_dict.hpp"

#include <ATen/core/Tensor.h>
#include <torch/csrc/jit/api/module.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "checkpoint/archive.hpp"
#include "torch/import/load_module.hpp"
#include "torch/run/tensors.hpp"

namespace mase::libtorch {

namespace {

using Tensors = std::map<std::string, at::Tensor>;

/// The first line of a message. Exceptions of LibTorch have a stack trace after it.
std::string first_line(const std::exception& error) {
  const std::string text = error.what();
  return text.substr(0, text.find('\n'));
}

Tensors tensors_of_module(const ZipReader& archive) {
  Tensors found;
  try {
    const torch::jit::Module module = load_module(archive);
    for (const auto& entry : module.named_parameters()) found[entry.name] = entry.value.detach();
    for (const auto& entry : module.named_buffers()) found[entry.name] = entry.value.detach();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    file_error("cannot read the tensors of '" + archive.origin() + "': " + first_line(error));
  }
  return found;
}

Tensors tensors_of_dict(const ZipReader& archive) {
  Tensors found;
  for (const auto& [name, value] : checkpoint::read_state_dict(archive))
    found[name] = view_of(value);
  return found;
}

std::string describe(const at::Tensor& tensor, const std::string& name) {
  const auto sizes = tensor.sizes();
  return std::string(dtype_name(dtype_of(tensor.scalar_type(), name))) +
         shape_text(Shape(sizes.begin(), sizes.end()));
}

std::string describe(const Array& array) {
  return std::string(dtype_name(array.dtype())) + shape_text(array.shape());
}

bool same_shape(const at::Tensor& tensor, const Array& array) {
  return tensor.sizes() == at::IntArrayRef(array.shape());
}

/// Whether PyTorch also loads a file without this tensor: counters of batch norms were added later
/// than batch norms, and constants of the model's code are in no state_dict.
bool may_be_missing(std::string_view name) {
  return name.ends_with(".num_batches_tracked") || name.starts_with("_tensor_constant");
}

/// The tensors that a file has for a (possibly tied) tensor of a graph, under each of its names.
std::vector<std::pair<std::string, at::Tensor>> given_for(const Tensors& found,
                                                          const std::string& path,
                                                          const ir::Tensor& tensor) {
  std::vector<std::pair<std::string, at::Tensor>> given;
  for (const std::string& name : ir::names_of(path, tensor))
    if (const auto it = found.find(name); it != found.end()) given.push_back(*it);
  return given;
}

std::string difference(const Tensors& found, const std::string& path, const ir::Tensor& tensor) {
  const auto given = given_for(found, path, tensor);
  if (given.empty() && (may_be_missing(path) || !tensor.begins.empty())) return "";
  if (given.empty()) return "\n  missing in the file: " + path + " " + describe(tensor.value);
  for (const auto& [name, value] : given) {
    if (!same_shape(value, tensor.value))
      return "\n  different: " + name + " is " + describe(value, name) + " in the file and " +
             describe(tensor.value) + " in the model";
    if (!same_values(value, given.front().second))
      return "\n  different: " + name + " and " + given.front().first +
             " are one tensor in the model but have different values in the file";
  }
  return "";
}

/// All differences between the tensors of a file and those of a graph, one per line.
std::string differences(const Tensors& found, const ir::Graph& graph) {
  std::string text;
  for (const auto& [path, tensor] : graph.tensors) text += difference(found, path, tensor);
  for (const auto& [name, tensor] : found)
    if (!graph.tensor_named(name))
      text += "\n  not in the model: " + name + " " + describe(tensor, name);
  return text;
}

bool knows_any(const Tensors& found, const ir::Graph& graph) {
  return std::ranges::any_of(
      found, [&](const auto& entry) { return graph.tensor_named(entry.first) != nullptr; });
}

/// The common prefix of all tensors, such as "module." from a wrapper; otherwise "".
std::string common_prefix(const Tensors& found) {
  if (found.empty()) return "";
  const std::string& first = found.begin()->first;
  const std::string prefix = first.substr(0, first.find('.') + 1);
  const bool common = std::ranges::all_of(
      found, [&](const auto& entry) { return entry.first.starts_with(prefix); });
  return common ? prefix : "";
}

/// Removes the prefix that DataParallel ("module."), torch.compile ("_orig_mod.") or a class around
/// the model ("model.") puts before every name, if the names then match the graph.
Tensors without_prefix(const Tensors& found, const ir::Graph& graph, const std::string& path) {
  Tensors rest = found;
  std::string taken;
  while (!knows_any(rest, graph)) {
    const std::string prefix = common_prefix(rest);
    if (prefix.empty()) return found;
    taken += prefix;
    Tensors shorter;
    for (const auto& [name, tensor] : rest) shorter.emplace(name.substr(prefix.size()), tensor);
    rest = std::move(shorter);
  }
  if (!taken.empty()) log::info(path + ": the prefix '" + taken + "' of all tensors is dropped");
  return rest;
}

/// The graph's tensors with the values of the file, in the graph's dtypes.
std::map<std::string, Array> matched(const Tensors& in_file, const ir::Graph& graph,
                                     const std::string& path) {
  const Tensors found = without_prefix(in_file, graph, path);
  const std::string text = differences(found, graph);
  if (!text.empty()) file_error("the tensors of '" + path + "' do not fit the model:" + text);
  std::map<std::string, Array> values;
  for (const auto& [name, tensor] : graph.tensors)
    if (const auto given = given_for(found, name, tensor); !given.empty())
      values.emplace(name,
                     to_array(given.front().second.to(scalar_type(tensor.value.dtype())), name));
  return values;
}

void assign(std::map<std::string, Array> values, ir::Graph& graph) {
  for (auto& [name, value] : values) graph.tensors.at(name).value = std::move(value);
}

}  // namespace

void load_state_dict(const std::string& path, ir::Graph& graph) {
  const auto [archive, kind] = checkpoint::open_tensors(path);
  const Tensors found = kind == checkpoint::ArchiveKind::torchscript ? tensors_of_module(archive)
                                                                     : tensors_of_dict(archive);
  assign(matched(found, graph, path), graph);
}

}  // namespace mase::libtorch
