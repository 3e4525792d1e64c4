// SPDX-License-Identifier: Apache-2.0
// Builds the module tree of an exported archive.
#include "torch/export/tree.hpp"

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "ir/naming.hpp"
#include "torch/run/tensors.hpp"

namespace mase::libtorch {

namespace {

namespace jit = torch::jit;

/// A component of a class name: only identifier characters, not empty, no leading digit.
std::string identifier(std::string_view text) {
  std::string out;
  for (const char c : text) out += is_identifier_char(c) ? c : '_';
  if (out.empty() || std::isdigit(static_cast<unsigned char>(out.front()))) out.insert(0, "_");
  return out;
}

/// Class names: "__torch__.torch.nn.modules.linear.___torch_mangle_3.Linear" for standard layers,
/// "__torch__.mase.Sequential_4" for others. The number makes them unique.
class ClassNames {
 public:
  std::string layer(const std::string& class_name) {
    std::string name = "__torch__";
    for (const std::string& part : split(ir::owner_of(class_name), '.'))
      name += "." + identifier(part);
    return name + ".___torch_mangle_" + next() + "." + identifier(ir::last_part(class_name));
  }
  std::string other(std::string_view class_name) {
    return "__torch__.mase." + identifier(ir::last_part(class_name)) + "_" + next();
  }

 private:
  std::string next() { return std::to_string(count_++); }
  int count_ = 0;
};

/// Orders children as in the source: numbers by value, then those with tensors in state_dict order,
/// then the others in execution order.
class ChildOrder {
 public:
  explicit ChildOrder(const ir::Graph& graph) {
    for (const std::string& path : graph.tensor_order) note(std::string(ir::owner_of(path)));
    for (const ir::NodeId id : graph.order())
      if (graph.node(id).kind == ir::NodeKind::call_module) note(graph.node(id).target);
  }

  void sort(std::vector<std::string>& paths) const {
    const bool numbered = std::all_of(paths.begin(), paths.end(), [](const std::string& path) {
      return parse_int(ir::last_part(path)).has_value();
    });
    std::stable_sort(paths.begin(), paths.end(), [&](const std::string& a, const std::string& b) {
      return numbered ? *parse_int(ir::last_part(a)) < *parse_int(ir::last_part(b))
                      : rank(a) < rank(b);
    });
  }

 private:
  void note(std::string path) {
    for (; !path.empty(); path = ir::owner_of(path)) ranks_.emplace(path, ranks_.size());
  }
  std::size_t rank(const std::string& path) const {
    const auto found = ranks_.find(path);
    return found == ranks_.end() ? ranks_.size() : found->second;
  }
  std::map<std::string, std::size_t> ranks_;
};

template <class T>
at::Tensor list_tensor(std::span<const T> values) {
  return view_of(Array::from(values, {static_cast<std::int64_t>(values.size())}));
}

at::Tensor bytes_tensor(const std::string& bytes) {
  return list_tensor(std::span(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()));
}

class TreeBuilder {
 public:
  TreeBuilder(const ir::Graph& graph, const std::set<std::string>& custom)
      : graph_(graph), custom_(custom), order_(graph) {
    tree_.unit = std::make_shared<jit::CompilationUnit>();
    for (const auto& entry : graph.containers) add_path(entry.first);
    for (const auto& entry : graph.modules) add_path(entry.first);
    for (const auto& path : graph.tensor_order)
      for (const std::string& name : ir::names_of(path, graph.tensors.at(path))) {
        const std::string owner(ir::owner_of(name));
        add_path(owner);
        tensors_[owner].emplace_back(name, path);
      }
  }

  ModuleTree build() {
    build_module("");
    return std::move(tree_);
  }

 private:
  /// Records a path, and every path above it, as a child of its owner.
  void add_path(std::string path) {
    while (!path.empty() && known_.insert(path).second) {
      const std::string owner(ir::owner_of(path));
      children_[owner].push_back(path);
      path = owner;
    }
  }

  std::string class_name(const std::string& path) {
    const auto leaf = graph_.modules.find(path);
    if (leaf != graph_.modules.end())
      return custom_.contains(path) ? names_.other(leaf->second.class_name)
                                    : names_.layer(leaf->second.class_name);
    const auto container = graph_.containers.find(path);
    if (container != graph_.containers.end()) return names_.other(container->second);
    return names_.other(path.empty() ? graph_.name : "Container");
  }

  jit::Module build_module(const std::string& path) {
    jit::Module module(c10::QualifiedName(class_name(path)), tree_.unit);
    module.register_attribute("training", c10::BoolType::get(), false);
    for (const auto& [name, tensor] : tensors_[path]) add_tensor(module, name, tensor);
    std::vector<std::string>& children = children_[path];
    order_.sort(children);
    for (const std::string& child : children)
      module.register_module(std::string(ir::last_part(child)), build_module(child));
    tree_.modules.emplace(path, module);
    return module;
  }

  /// Adds a tensor. Tied tensors have several names but share memory.
  void add_tensor(jit::Module& module, const std::string& name, const std::string& path) {
    const ir::Tensor& tensor = graph_.tensors.at(path);
    if (tensor.coded) return add_codes(module, name, path, tensor.coded->encoded);
    const auto [known, added] = values_.emplace(path, view_of(tensor.value));
    at::Tensor& value = known->second;
    if (added && tensor.is_parameter && at::isFloatingType(value.scalar_type()))
      value.set_requires_grad(tensor.requires_grad);
    module.register_parameter(std::string(ir::last_part(name)), value, !tensor.is_parameter);
  }

  /// Adds codes as byte buffers, which move to other devices with the module and keep their dtype.
  void add_codes(jit::Module& module, const std::string& name, const std::string& path,
                 const formats::Encoded& encoded) {
    const std::string stem(ir::last_part(ir::code_stem(graph_, name)));
    const std::string first_stem = ir::code_stem(graph_, path);
    const auto add = [&](const char* ending, at::Tensor value) {
      const at::Tensor& first =
          values_.emplace(first_stem + ending, std::move(value)).first->second;
      if (first.numel() > 0) module.register_buffer(stem + ending, first);
    };
    add("_codes", bytes_tensor(encoded.codes.bytes()));
    add("_shared", bytes_tensor(encoded.shared.bytes()));
    add("_scales", list_tensor<float>(encoded.scales));
  }

  const ir::Graph& graph_;
  const std::set<std::string>& custom_;
  ChildOrder order_;
  ClassNames names_;
  ModuleTree tree_;
  std::set<std::string> known_;
  std::map<std::string, std::vector<std::string>> children_;
  std::map<std::string, std::vector<std::pair<std::string, std::string>>> tensors_;  ///< name, path
  std::map<std::string, at::Tensor> values_;  ///< by path; codes by their first name
};

}  // namespace

ModuleTree build_module_tree(const ir::Graph& graph, const std::set<std::string>& custom) {
  return TreeBuilder(graph, custom).build();
}

}  // namespace mase::libtorch
