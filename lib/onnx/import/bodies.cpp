// SPDX-License-Identifier: Apache-2.0
// Copies the bodies of loops, and imports them.
#include "onnx/import/bodies.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "onnx/import/importer.hpp"

namespace mase::onnx {
namespace {

/// A loop without nodes would never reach the limit of nodes.
constexpr std::int64_t most_turns = 100'000;

/// Gives the names that a graph defines, and those of the graphs inside of it, a prefix. Names of
/// the graphs around it stay.
class Copy {
 public:
  explicit Copy(std::string prefix) : prefix_(std::move(prefix)) {}

  Graph graph(const Graph& original) {
    Graph copy = original;
    for (ValueInfo& one : copy.inputs) define(one.name);
    for (Tensor& one : copy.initializers) define(one.name);
    for (Node& node : copy.nodes) {
      for (std::string& one : node.inputs) rename(one);
      for (std::string& one : node.outputs) define(one);
      for (Attribute& one : node.attributes)
        if (const auto* body = std::get_if<std::shared_ptr<const Graph>>(&one.value))
          one.value = std::make_shared<const Graph>(graph(**body));
    }
    for (ValueInfo& one : copy.outputs) rename(one.name);
    return copy;
  }

 private:
  void define(std::string& name) {
    if (name.empty()) return;
    own_.insert(name);
    name = prefix_ + name;
  }
  void rename(std::string& name) const {
    if (own_.contains(name)) name = prefix_ + name;
  }

  std::string prefix_;
  std::set<std::string> own_;
};

}  // namespace

const Graph& body_of(const Call& call, std::string_view attribute) {
  const Attribute* found = call.node().find(attribute);
  const auto* body = found ? std::get_if<std::shared_ptr<const Graph>>(&found->value) : nullptr;
  if (!body || !*body) call.wrong("it has no " + std::string(attribute));
  return **body;
}

std::vector<Operand> import_branch(Call& call, const Graph& body) {
  call.importer().import_body(body);
  std::vector<Operand> results;
  for (const ValueInfo& output : body.outputs) {
    const Operand* found = call.importer().find(output.name);
    if (!found) call.wrong("nothing gives the output '" + output.name + "' of its body");
    results.push_back(*found);
  }
  return results;
}

std::vector<Operand> Turns::next(std::vector<Operand> inputs) {
  if (inputs.size() != body_.inputs.size())
    call_.wrong("its body has " + std::to_string(body_.inputs.size()) + " inputs, not " +
                std::to_string(inputs.size()));
  if (++count_ > most_turns)
    call_.refuse("it runs more than " + std::to_string(most_turns) +
                 " times; the graph has a copy of its body for each time");
  const Graph copy = Copy(call_.importer().new_prefix()).graph(body_);
  call_.importer().count_uses(copy);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    call_.importer().define(copy.inputs[i].name, std::move(inputs[i]));
  return import_branch(call_, copy);
}

Operand stacked(Call& call, const std::vector<Operand>& items, std::int64_t dim) {
  if (items.empty()) call.refuse("it runs no time, so the shape of what it collects is not known");
  const auto is_number = [](const Operand& one) { return one.host && one.host->shape.empty(); };
  if (std::ranges::all_of(items, is_number)) {
    HostTensor all{items[0].host->dtype, {static_cast<std::int64_t>(items.size())}, {}};
    for (const Operand& one : items) all.items.push_back(one.host->items.at(0));
    return {.host = std::move(all)};
  }
  std::vector<ir::Value> tensors;
  for (Operand one : items) tensors.push_back(ref(call.importer().node_of(one, "a result")));
  return {.node = call.emit("aten::stack",
                            {{"tensors", ir::Value::list(std::move(tensors))}, {"dim", dim}})};
}

}  // namespace mase::onnx
