// SPDX-License-Identifier: Apache-2.0
// Reads scopes from metadata and from names of nodes.
#include "onnx/import/scopes.hpp"

#include <vector>

#include "base/text.hpp"
#include "ir/naming.hpp"

namespace mase::onnx {
namespace {

/// The texts of a Python list of strings: "['', 'conv1']".
std::vector<std::string> python_strings(std::string_view text) {
  std::vector<std::string> found;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char quote = text[at];
    if (quote != '\'' && quote != '"') continue;
    const std::size_t end = text.find(quote, at + 1);
    if (end == std::string_view::npos) break;
    found.emplace_back(text.substr(at + 1, end - at - 1));
    at = end;
  }
  return found;
}

/// The last entry is the operator itself, and the one before it the innermost module.
Scope from_metadata(const Node& node) {
  const std::string* names = find_property(node.metadata, "pkg.torch.onnx.name_scopes");
  const std::string* classes = find_property(node.metadata, "pkg.torch.onnx.class_hierarchy");
  if (!names || !classes) return {};
  const auto paths = python_strings(*names), types = python_strings(*classes);
  if (paths.size() < 2 || types.size() != paths.size()) return {};
  const std::size_t inner = paths.size() - 2;
  if (paths[inner].empty()) return {};
  return {paths[inner], types[inner]};
}

/// A part of the name is the attribute's name, or the whole path for children of containers.
Scope from_name(const Node& node) {
  if (!node.name.starts_with('/')) return {};
  std::string path;
  const std::vector<std::string> parts = split(node.name.substr(1), '/');
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    const bool whole = !path.empty() && parts[i].starts_with(path + ".");
    const auto inner = parts[i].rfind('.');
    if (whole || path.empty())
      path = parts[i];
    else if (inner != std::string::npos && path.ends_with(parts[i].substr(0, inner)))
      path += parts[i].substr(inner);
    else
      path += "." + parts[i];
  }
  return {path, ""};
}

}  // namespace

Scope scope_of(const Node& node) {
  Scope scope = from_metadata(node);
  return scope.path.empty() ? from_name(node) : scope;
}

Scopes::Scopes(const Graph& graph) : containers_(graph) {
  for (const Node& node : graph.nodes)
    if (node.op != "Constant") ++counts_[of(node).path];
  for (const auto& [path, count] : counts_) add_parents(path);
  for (const Tensor& tensor : graph.initializers) add_parents(ir::owner_of(tensor.name));
}

void Scopes::add_parents(std::string_view path) {
  for (std::string_view one = ir::owner_of(path); !one.empty(); one = ir::owner_of(one))
    if (!parents_.emplace(one).second) return;
}

Scope Scopes::of(const Node& node) const {
  Scope scope = scope_of(node);
  if (scope.class_name.empty()) scope.path = containers_.whole(scope.path);
  return scope;
}

int Scopes::nodes_in(const std::string& path) const {
  const auto found = counts_.find(path);
  return found == counts_.end() ? 0 : found->second;
}

}  // namespace mase::onnx
