// SPDX-License-Identifier: Apache-2.0
// Values of a graph's tensors read from TorchScript files and state_dicts.
#include "torch/import/state_dict.hpp"

#include <ATen/core/Tensor.h>
#include <torch/csrc/jit/api/module.h>

#include <map>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"
#include "checkpoint/archive.hpp"
#include "torch/import/load_module.hpp"
#include "torch/run/tensors.hpp"

namespace mase::libtorch {

namespace {

using Tensors = std::map<std::string, at::Tensor>;

/// Foreign exceptions carry a stack trace after their first line.
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

/// Every difference between the tensors of a file and those of a graph, one line each.
std::string differences(const Tensors& found, const ir::Graph& graph) {
  std::string text;
  for (const auto& [name, tensor] : graph.tensors) {
    const auto given = found.find(name);
    if (given == found.end()) {
      text += "\n  missing in the file: " + name + " " + describe(tensor.value);
      continue;
    }
    if (!same_shape(given->second, tensor.value))
      text += "\n  different: " + name + " is " + describe(given->second, name) +
              " in the file and " + describe(tensor.value) + " in the model";
  }
  for (const auto& [name, tensor] : found)
    if (!graph.tensors.contains(name))
      text += "\n  not in the model: " + name + " " + describe(tensor, name);
  return text;
}

/// The graph's tensors with the values of the file, in the graph's dtypes.
std::map<std::string, Array> matched(const Tensors& found, const ir::Graph& graph,
                                     const std::string& path) {
  const std::string text = differences(found, graph);
  if (!text.empty()) file_error("the tensors of '" + path + "' do not fit the model:" + text);
  std::map<std::string, Array> values;
  for (const auto& [name, tensor] : graph.tensors)
    values.emplace(name, to_array(found.at(name).to(scalar_type(tensor.value.dtype())), name));
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
