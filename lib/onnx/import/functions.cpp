// SPDX-License-Identifier: Apache-2.0
// Writes the body of a function out with the names of a call.
#include "onnx/import/functions.hpp"

#include <algorithm>
#include <map>

#include "base/error.hpp"
#include "onnx/import/importer.hpp"

namespace mase::onnx {
namespace {

class Body {
 public:
  Body(const Function& function, const Node& call, std::string prefix)
      : function_(function), call_(call), prefix_(std::move(prefix)) {
    const auto pair = [&](const auto& inner, const auto& outer) {
      for (std::size_t i = 0; i < inner.size(); ++i)
        names_[inner[i]] = i < outer.size() ? outer[i] : "";
    };
    pair(function.inputs, call.inputs);
    pair(function.outputs, call.outputs);
  }

  std::vector<Node> nodes(const std::vector<Node>& nodes) const {
    std::vector<Node> renamed;
    for (const Node& node : nodes) renamed.push_back(this->node(node));
    return renamed;
  }

 private:
  /// An output that the call does not ask for still needs a name inside of the body.
  std::string name(const std::string& inner) const {
    if (inner.empty()) return "";
    const auto known = names_.find(inner);
    if (known == names_.end()) return prefix_ + inner;
    const bool input = std::ranges::find(function_.inputs, inner) != function_.inputs.end();
    return known->second.empty() && !input ? prefix_ + inner : known->second;
  }

  Node node(const Node& node) const {
    Node renamed = node;
    renamed.name = node.name.empty() ? call_.name : call_.name + "/" + node.name;
    for (std::string& one : renamed.inputs) one = name(one);
    for (std::string& one : renamed.outputs) one = name(one);
    renamed.attributes.clear();
    for (const Attribute& one : node.attributes)
      if (auto value = attribute(one)) renamed.attributes.push_back(std::move(*value));
    if (renamed.metadata.empty()) renamed.metadata = call_.metadata;
    return renamed;
  }

  /// An attribute without a value, neither in the call nor as default, is left out.
  std::optional<Attribute> attribute(const Attribute& attribute) const {
    if (!attribute.reference.empty()) {
      const auto fallback =
          std::ranges::find(function_.defaults, attribute.reference, &Attribute::name);
      const Attribute* given = call_.find(attribute.reference);
      if (!given && fallback == function_.defaults.end()) return std::nullopt;
      Attribute named = given ? *given : *fallback;
      named.name = attribute.name;
      return named;
    }
    const auto* body = std::get_if<std::shared_ptr<const Graph>>(&attribute.value);
    if (!body) return attribute;
    Attribute renamed = attribute;
    renamed.value = std::make_shared<const Graph>(graph(**body));
    return renamed;
  }

  Graph graph(const Graph& graph) const {
    Graph renamed = graph;
    renamed.nodes = nodes(graph.nodes);
    for (Tensor& one : renamed.initializers) one.name = name(one.name);
    for (ValueInfo& one : renamed.inputs) one.name = name(one.name);
    for (ValueInfo& one : renamed.outputs) one.name = name(one.name);
    return renamed;
  }

  const Function& function_;
  const Node& call_;
  std::string prefix_;
  std::map<std::string, std::string> names_;
};

}  // namespace

std::vector<Node> body_of(const Function& function, const Node& call, const std::string& prefix) {
  return Body(function, call, prefix).nodes(function.nodes);
}

const Function* Importer::find_function(const Node& node) const {
  const auto found = std::ranges::find_if(model_.functions, [&](const Function& one) {
    return one.name == node.op && one.domain == node.domain && one.overload == node.overload;
  });
  return found == model_.functions.end() ? nullptr : &*found;
}

void Importer::import_function(const Function& function, const Node& call) {
  constexpr std::size_t deepest = 100;
  if (opsets_.size() > deepest)
    file_error(path() + ": the function " + function.name + " calls itself");
  opsets_.push_back(&function.opsets);
  import_nodes(body_of(function, call, new_prefix()));
  opsets_.pop_back();
}

}  // namespace mase::onnx
