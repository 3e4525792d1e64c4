// SPDX-License-Identifier: Apache-2.0
// The modules and the Python function that a node comes from, as torch.export records them.
#include <algorithm>

#include "ir/naming.hpp"
#include "pt2/export/exporter.hpp"

namespace mase::pt2 {
namespace {

/// The Python function of a node, and a line that calls it: importers tell methods from operators
/// by the dot.
struct Function {
  std::string kind, name, line;
};

Function function_of(const ir::Node& node) {
  const std::string name(ir::last_part(node.target));
  if (node.op == "mase::getitem") return {"wrapper_descriptor", "__getitem__", "x[...]"};
  if (node.kind == ir::NodeKind::call_method)
    return {"method_descriptor", name, "x." + name + "()"};
  if (node.target.starts_with("_operator."))
    return {"method_descriptor", name, "operator: " + name};
  if (node.target.starts_with("torch.nn.functional."))
    return {"function", name, "F." + name + "()"};
  return {"builtin_function_or_method", name, "torch." + name + "()"};
}

/// "a", "a.b" and "a.b.c" for "a.b.c"
std::vector<std::string> owners_of(const std::string& path) {
  std::vector<std::string> owners;
  if (path.empty()) return owners;
  for (std::size_t dot = path.find('.'); dot != std::string::npos; dot = path.find('.', dot + 1))
    owners.push_back(path.substr(0, dot));
  owners.push_back(path);
  return owners;
}

std::string common_owner(const std::string& a, const std::string& b) {
  std::string common;
  const std::vector<std::string> of_a = owners_of(a), of_b = owners_of(b);
  for (std::size_t i = 0; i < std::min(of_a.size(), of_b.size()) && of_a[i] == of_b[i]; ++i)
    common = of_a[i];
  return common;
}

}  // namespace

/// A graph does not say in which module a function was called: it is the innermost one that the
/// layers before and after the call are in.
void Exporter::find_containers() {
  const std::vector<ir::NodeId>& order = graph_.order();
  std::string before;
  std::vector<ir::NodeId> between;
  const auto close = [&](const std::string& after) {
    for (const ir::NodeId id : between) containers_[id] = common_owner(before, after);
    between.clear();
    before = after;
  };
  for (const ir::NodeId id : order) {
    const auto origin = expanded_.origins.find(id);
    const ir::Node& node = origin == expanded_.origins.end() ? graph_.node(id) : origin->second;
    if (node.kind == ir::NodeKind::call_module)
      close(containers_[id] = ir::owner_of(node.target));
    else
      between.push_back(id);
  }
  close("");
}

std::string Exporter::class_of(const std::string& path) const {
  const auto known = graph_.containers.find(path);
  return known == graph_.containers.end() ? "torch.nn.modules.module.Module" : known->second;
}

/// A module that is entered again is another call of it.
std::string Exporter::module_entry(const std::string& path, const std::string& class_name) {
  const int call = calls_["module " + path]++;
  return ";L__self__" + path + (call == 0 ? "" : "@" + std::to_string(call)) + "," + path + "," +
         class_name;
}

std::string Exporter::module_stack(const ir::Node& step, const ir::Node& node) {
  const std::vector<std::string> wanted = owners_of(containers_[step.id]);
  std::size_t same = 0;
  while (same < std::min(open_.size(), wanted.size()) && open_[same].first == wanted[same]) ++same;
  open_.resize(same);
  for (std::size_t i = same; i < wanted.size(); ++i)
    open_.emplace_back(wanted[i], module_entry(wanted[i], class_of(wanted[i])));
  std::string text = "L__self__,," + class_of("");
  for (const auto& [path, entry] : open_) text += entry;
  if (node.kind == ir::NodeKind::call_module)
    text += module_entry(node.target, graph_.module_of(node).class_name);
  return text;
}

/// Steps of one node of the graph share its modules and its function.
Tree Exporter::metadata(const ir::Node& step) {
  const auto origin = expanded_.origins.find(step.id);
  const ir::Node& node = origin == expanded_.origins.end() ? step : origin->second;
  const Function function = function_of(node);
  auto [scope, added] = scopes_.try_emplace(node.id);
  if (added) {
    const std::string call = function.name + "_" + std::to_string(++calls_[function.name]);
    scope->second = {module_stack(step, node), call + ";" + function.kind + "." + function.name};
  }
  Tree tree = Tree::dict();
  tree["stack_trace"] = "File \"" + graph_.name + "\", line " + std::to_string(scopes_.size()) +
                        ", in forward\n    " + node.name + " = " + function.line;
  tree["nn_module_stack"] = scope->second.modules;
  tree["torch_fn"] = scope->second.function;
  return tree;
}

}  // namespace mase::pt2
