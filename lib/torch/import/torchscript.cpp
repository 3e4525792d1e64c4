// SPDX-License-Identifier: Apache-2.0
// Reads TorchScript files into graphs.
#include "torch/import/torchscript.hpp"

#include <ATen/core/ivalue.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "checkpoint/archive.hpp"
#include "torch/import/load_module.hpp"
#include "torch/import/module.hpp"
#include "torch/import/precision.hpp"
#include "torch/import/registry_guard.hpp"
#include "torch/import/state.hpp"
#include "torch/import/watched_tensors.hpp"
#include "torch/run/tensors.hpp"

namespace mase::libtorch {
namespace {

/// The first line of LibTorch's message that is meaningful to a user.
std::string reason_of(const std::string& message) {
  if (message.find("INTERNAL ASSERT") != std::string::npos) {
    return "the code in the archive is not valid";
  }
  for (const std::string& line : split(message, '\n')) {
    if (!trim(line).empty()) return std::string(trim(line));
  }
  return "unknown reason";
}

jit::Module load_file(const std::string& path) {
  const ZipReader archive = checkpoint::open_model(path);
  try {
    return load_module(archive);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    const std::string reason = reason_of(error.what());
    const bool newer = std::string(error.what()).find("Unknown builtin op") != std::string::npos;
    file_error(path + ": cannot be loaded as TorchScript: " + reason +
               (newer ? " (the file needs a newer LibTorch)" : ""));
  }
}

std::vector<std::string> names_of_children(const jit::Module& module) {
  std::vector<std::string> names;
  for (const auto& child : module.named_children()) names.push_back(child.name);
  return names;
}

/// The part of a model at a path ("encoder.layers.0"); the model itself for "".
jit::Module part_of(jit::Module module, const std::string& submodule, const std::string& path) {
  if (submodule.empty()) return module;
  std::string above;
  for (const std::string& name : split(submodule, '.')) {
    const std::vector<std::string> names = names_of_children(module);
    if (std::ranges::find(names, name) == names.end())
      config_error(
          "--submodule " + submodule + ": " + path + " has no '" + above + name + "'" +
          did_you_mean(name, names, names.empty() ? "" : "; there are " + join(names, ", ")));
    module = module.attr(name).toModule();
    above += name + ".";
  }
  return module;
}

/// Loads the module to import, which must have a forward method.
jit::Module load_part(const std::string& path, const std::string& submodule) {
  jit::Module module = part_of(load_file(path), submodule, path);
  if (!module.find_method("forward"))
    file_error(path + ": " +
               (submodule.empty() ? std::string("the model") : "'" + submodule + "'") +
               " has no forward method" +
               did_you_mean("", {},
                            "; parts are chosen with --submodule: " +
                                join(names_of_children(module), ", ")));
  return module;
}

/// The first names of tensors, by their memory.
class FirstNames {
 public:
  /// The name of a tensor with exactly the same elements that is also a parameter or also a buffer;
  /// otherwise `path`.
  const std::string& find(const at::Tensor& tensor, bool is_parameter, const std::string& path) {
    if (tensor.numel() == 0) return path;
    auto& same_start = names_[tensor.data_ptr()];
    for (const auto& [known, parameter, name] : same_start)
      if (parameter == is_parameter && is_same_memory(known, tensor)) return name;
    same_start.push_back({tensor, is_parameter, path});
    return path;
  }

  /// Warns of a view. PyTorch's optimisers change parameters in place, and so all tensors that
  /// share their memory, but here a view is a separate tensor.
  void warn_of_view(const at::Tensor& tensor, bool is_parameter, const std::string& path) {
    if (!tensor.has_storage()) return;
    auto& others = by_storage_[tensor.storage().unsafeGetStorageImpl()];
    for (const auto& [known, parameter, name] : others)
      if ((parameter || is_parameter) && overlap(known, tensor))
        log::warning("'" + path + "' shares memory with '" + name +
                     "', but training one will not change the other; compute it in forward");
    others.push_back({tensor, is_parameter, path});
  }

 private:
  struct Named {
    at::Tensor tensor;
    bool is_parameter;
    std::string name;
  };
  std::map<const void*, std::vector<Named>> names_, by_storage_;
};

/// Makes a parameter use the graph's copy, so that its own memory is freed and a model is not held
/// twice. Tensors that share memory keep it, because the importer identifies tensors by their
/// memory. Vectors keep it too, because they may be statistics that batch norms write to.
void share_memory(at::Tensor parameter, const Array& copy) {
  const bool is_alone = parameter.is_contiguous() && parameter.storage().use_count() == 1;
  if (is_alone && parameter.dim() > 1) parameter.set_data(view_of(copy));
}

/// Collects tensors in state_dict order: a module's parameters, its buffers, then its children's. A
/// tensor that has been seen before gets a further name.
void collect_tensors(const jit::Module& module, const std::string& prefix, ir::Graph& graph,
                     FirstNames& known) {
  const auto type = module.type();
  for (const bool parameters : {true, false}) {
    for (std::size_t i = 0; i < type->numAttributes(); ++i) {
      const bool wanted = parameters ? type->is_parameter(i) : type->is_buffer(i);
      const c10::IValue value = module._ivalue()->getSlot(i);
      if (!wanted || !value.isTensor() || !value.toTensor().defined()) continue;
      const std::string path = prefix + type->getAttributeName(i);
      const at::Tensor& tensor = value.toTensor();
      const std::string& first = known.find(tensor, parameters, path);
      if (first != path) {
        graph.tensors.at(first).other_names.push_back(path);
        continue;
      }
      known.warn_of_view(tensor, parameters, path);
      graph.set_tensor(path, {to_array(tensor, path), parameters, tensor.requires_grad()});
      if (parameters) share_memory(tensor, graph.tensors.at(path).value);
      known.find(tensor, parameters, path);  // also under its new address
    }
  }
  for (const auto& child : module.named_children()) {
    collect_tensors(child.value, prefix + child.name + ".", graph, known);
  }
}

void collect_containers(const jit::Module& module, const std::string& path, ir::Graph& graph) {
  for (const auto& child : module.named_children()) {
    const std::string name = path.empty() ? child.name : path + "." + child.name;
    if (!graph.modules.contains(name)) graph.containers[name] = class_name(child.value._ivalue());
    collect_containers(child.value, name, graph);
  }
}

/// Makes all parameters trainable if no tensor requires gradients, as in many files made for
/// inference.
void allow_training(ir::Graph& graph) {
  for (const auto& [path, tensor] : graph.tensors) {
    if (tensor.requires_grad) return;
  }
  for (auto& [path, tensor] : graph.tensors) {
    tensor.requires_grad = tensor.is_parameter && tensor.value.dtype() == DType::float32;
  }
}

}  // namespace

backend::Imported import_with_notes(const std::string& path, const backend::ImportOptions& given) {
  const jit::Module module = load_part(path, given.submodule);
  backend::Imported imported;
  ir::Graph graph;
  std::vector<std::string> notes;
  backend::ImportOptions options = given;
  const std::string top = class_name(module._ivalue());
  graph.name =
      top.empty() ? std::filesystem::path(path).stem().string() : top.substr(top.rfind('.') + 1);
  try {
    const c10::NoGradGuard no_gradients;
    const RegistryGuard only_allowed;
    const auto precision = other_precision(module);
    if (precision) {
      use_float32(module, *precision);
      for (Array& input : options.inputs)
        if (is_floating(input.dtype())) input = input.to_float32();
      notes.push_back("its " + std::string(dtype_name(dtype_of(*precision, path))) +
                      " numbers become float32, as with model.float()");
    }
    FirstNames names;
    collect_tensors(module, "", graph, names);
    imported = import_with_state(module, graph, options, precision);
  } catch (const Error& error) {
    throw Error(error.fault(), path + ": " + error.what());
  } catch (const std::exception& error) {
    file_error(path + ": the program in the file is not valid: " + reason_of(error.what()));
  }
  imported.notes.insert(imported.notes.begin(), notes.begin(), notes.end());
  imported.graph.remove_dead_nodes();
  imported.graph.containers[""] = top;
  collect_containers(module, "", imported.graph);
  allow_training(imported.graph);
  return imported;
}

backend::Signature read_signature(const std::string& path, const std::string& submodule) {
  const jit::Module module = load_part(path, submodule);
  backend::Signature signature;
  const at::ArrayRef<c10::Argument> arguments =
      module.get_method("forward").function().getSchema().arguments();
  for (const c10::Argument& argument : arguments.slice(1)) {
    signature.inputs.push_back(argument.name());
    if (!argument.default_value() && !c10::TensorType::get()->isSubtypeOf(*argument.type()))
      signature.other_types.emplace(argument.name(), argument.type()->repr_str());
  }
  for (const at::Tensor& parameter : module.parameters())
    signature.parameters.push_back(parameter.sizes().vec());
  signature.state = names_of_state(module);
  return signature;
}

}  // namespace mase::libtorch
