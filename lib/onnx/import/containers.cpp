// SPDX-License-Identifier: Apache-2.0
// Compares scopes with the paths of tensors, part by part.
#include "onnx/import/containers.hpp"

#include <algorithm>
#include <vector>

#include "base/text.hpp"
#include "ir/naming.hpp"
#include "onnx/import/scopes.hpp"

namespace mase::onnx {
namespace {

using Parts = std::vector<std::string>;

Parts parts_of(const std::string& path) { return path.empty() ? Parts{} : split(path, '.'); }

std::string first_parts(const Parts& parts, std::size_t count) {
  return join({parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(count)}, ".");
}

/// The number of a container's child.
std::optional<std::int64_t> number_in(const std::string& part) {
  const bool digits =
      !part.empty() && std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; });
  return digits ? parse_int(part) : std::nullopt;
}

/// A table of [scope parts + 1][path parts + 1].
using Matches = std::vector<std::vector<char>>;

/// Whether the first i parts of a scope can be parts of a path, the last of them its part j. Parts
/// of the path are left out in front of numbers only, and behind the scope.
Matches matches(const Parts& scope, const Parts& path) {
  Matches all(scope.size() + 1, std::vector<char>(path.size() + 1, 0));
  all[0][0] = 1;
  for (std::size_t i = 1; i <= scope.size(); ++i) {
    const bool may_skip = number_in(scope[i - 1]).has_value();
    bool before = false;  // whether a shorter piece of the path matches
    for (std::size_t j = 1; j <= path.size(); ++j) {
      before = before || all[i - 1][j - 1];
      const bool follows = may_skip ? before : all[i - 1][j - 1] != 0;
      all[i][j] = follows && scope[i - 1] == path[j - 1];
    }
  }
  return all;
}

/// Only those matches from which the rest of the scope follows.
void keep_whole(const Parts& scope, Matches& all) {
  for (std::size_t i = scope.size(); i-- > 1;) {
    const bool may_skip = number_in(scope[i]).has_value();
    bool behind = false;
    for (std::size_t j = all[i].size(); j-- > 0;) {
      const bool next = j + 1 < all[i].size() && all[i + 1][j + 1];
      behind = behind || next;
      all[i][j] = all[i][j] && (may_skip ? behind : next);
    }
  }
}

bool is_below(const std::string& path, const std::string& other) {
  return path.empty() || other == path || other.starts_with(path + ".");
}

bool is_within(const std::string& scope, const std::string& path) {
  const Matches all = matches(parts_of(scope), parts_of(path));
  return std::ranges::any_of(all.back(), [](char one) { return one != 0; });
}

/// The tensors of a graph that may be weights, and how many nodes read each. Exporters store equal
/// tensors once, and give the others their names by Identity.
class Weights {
 public:
  explicit Weights(const Graph& graph) {
    for (const Tensor& tensor : graph.initializers)
      if (is_floating(tensor.value.dtype()) && !tensor.value.shape().empty())
        weights_.emplace(tensor.name, &tensor);
    for (const Node& node : graph.nodes) {
      const bool one = node.inputs.size() == 1 && node.outputs.size() == 1;
      const Tensor* equal = one && node.op == "Identity" ? find(node.inputs[0]) : nullptr;
      if (equal) weights_.emplace(node.outputs[0], equal);
      if (!equal)
        for (const std::string& input : node.inputs) ++uses_[input];
    }
    for (const ValueInfo& output : graph.outputs) ++uses_[output.name];
  }

  const Tensor* find(const std::string& name) const {
    const auto found = weights_.find(name);
    return found == weights_.end() ? nullptr : found->second;
  }
  bool is_read_once(const std::string& name) const {
    const auto found = uses_.find(name);
    return found != uses_.end() && found->second == 1;
  }

 private:
  std::unordered_map<std::string, const Tensor*> weights_;
  std::unordered_map<std::string, int> uses_;
};

/// Whether an exporter made this product and this sum of one linear layer: the older one names the
/// transposed weight itself, the newer one gives both nodes the metadata of the layer.
bool of_one_layer(const Node& product, const Node& sum) {
  const std::string key = "pkg.torch.onnx.name_scopes";
  const std::string* scopes = find_property(product.metadata, key);
  const std::string* others = find_property(sum.metadata, key);
  if (scopes || others) return scopes && others && *scopes == *others;
  return product.inputs[1].starts_with("onnx::") && scope_of(product).path == scope_of(sum).path;
}

/// "fc" for the bias "fc.bias" of a linear layer.
std::string owner_of_bias(const Weights& weights, const std::string& name) {
  const Tensor* bias = weights.find(name);
  if (!bias || bias->value.shape().size() != 1 || ir::last_part(name) != "bias") return "";
  return weights.is_read_once(name) ? std::string(ir::owner_of(name)) : "";
}

}  // namespace

Containers::Containers(const Graph& graph) {
  add_products(graph);
  const Weights weights(graph);
  for (const Node& node : graph.nodes) {
    const Scope scope = scope_of(node);
    if (node.op == "Constant" || scope.path.empty() || !scope.class_name.empty()) continue;
    add_order(scope.path);
    const bool known = !owner_of_product(node).empty();  // its bias tells what its weight does not
    for (const std::string& input : node.inputs)
      if (weights.find(input) && weights.is_read_once(input) && !known)
        add_tensor(scope.path, std::string(ir::owner_of(input)));
  }
}

void Containers::add_products(const Graph& graph) {
  const Weights weights(graph);
  std::unordered_map<std::string, const Node*> products;
  for (const Node& node : graph.nodes) {
    const bool product = node.op == "MatMul" && node.inputs.size() == 2 &&
                         node.outputs.size() == 1 && weights.find(node.inputs[1]) &&
                         ir::owner_of(node.inputs[1]).empty();
    if (product && weights.is_read_once(node.inputs[1])) products.emplace(node.outputs[0], &node);
    if (node.op != "Add" || node.inputs.size() != 2) continue;
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
      const auto found = products.find(node.inputs[1 - i]);
      const std::string owner = owner_of_bias(weights, node.inputs[i]);
      if (found == products.end() || owner.empty() || !weights.is_read_once(found->first)) continue;
      if (of_one_layer(*found->second, node) && is_within(scope_of(node).path, owner))
        owners_.emplace(found->first, owner);
    }
  }
}

void Containers::add_order(const std::string& scope) {
  const Parts parts = parts_of(scope);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto number = number_in(parts[i]);
    if (!number) continue;
    Numbers& numbers = numbers_[first_parts(parts, i)];
    numbers.ordered = numbers.ordered && *number >= numbers.last;
    numbers.last = *number;
  }
}

void Containers::add_tensor(const std::string& scope, const std::string& owner) {
  const Parts parts = parts_of(scope), path = parts_of(owner);
  Matches all = matches(parts, path);
  keep_whole(parts, all);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!number_in(parts[i])) continue;
    std::unordered_set<std::string> allowed;
    for (std::size_t j = 1; j <= path.size(); ++j)
      if (all[i + 1][j]) allowed.insert(first_parts(path, j - 1));
    Candidates& known = numbers_[first_parts(parts, i)].containers;
    if (known)
      std::erase_if(*known, [&](const std::string& one) { return !allowed.contains(one); });
    else
      known = std::move(allowed);
  }
}

std::string Containers::whole(const std::string& scope) const {
  const Parts parts = parts_of(scope);
  std::string path;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string above = first_parts(parts, i);
    const auto numbers = number_in(parts[i]) ? numbers_.find(above) : numbers_.end();
    if (numbers != numbers_.end()) {
      const auto& [containers, last, ordered] = numbers->second;
      const bool told = containers && containers->size() == 1 && ordered;
      if (!told && path != above) return scope;
      if (told) {
        if (!is_below(path, *containers->begin())) return scope;
        path = *containers->begin();
      }
    }
    path += (path.empty() ? "" : ".") + parts[i];
  }
  return path;
}

std::string Containers::owner_of_product(const Node& node) const {
  const auto found = node.outputs.empty() ? owners_.end() : owners_.find(node.outputs[0]);
  return found == owners_.end() ? "" : found->second;
}

}  // namespace mase::onnx
