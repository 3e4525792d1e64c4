// SPDX-License-Identifier: Apache-2.0
// Tensors of the model that it changes. Those that a later run reads become inputs, behind the
// others, and results by name, as in the import of TorchScript. The others are left out.
#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"
#include "ir/op_table.hpp"
#include "pt2/import/importer.hpp"

namespace mase::pt2 {
namespace {

std::string state_name(std::string path) {
  std::ranges::replace(path, '.', '_');
  return path;
}

/// The name of the input that stands for a tensor of the model.
std::string input_name(const Program& program, const std::string& path) {
  const std::string name = state_name(path);
  const std::vector<std::string> inputs = inputs_of(program);
  return std::ranges::find(inputs, name) == inputs.end() ? name : name + "_state";
}

/// Whether results of the node may share memory with its first argument, or be it.
bool may_share(const ir::OpSchema& schema) {
  return !schema.arguments.empty() && !schema.arguments[0].alias.empty();
}

/// The results by name: those of a tuple or list are numbered.
ir::Value::Dict entries_of(const ir::Value& result) {
  using Kind = ir::Value::Kind;
  if (result.kind() == Kind::dict) return result.entries();
  ir::Value::Dict entries;
  if (result.kind() != Kind::tuple && result.kind() != Kind::list) {
    entries.emplace_back("output", result);
    return entries;
  }
  for (const ir::Value& item : result.items())
    entries.emplace_back(std::to_string(entries.size()), item);
  return entries;
}

}  // namespace

bool may_keep_state(const Program& program) {
  const auto is_next_value = [](const OutputSpec& output) {
    return output.kind == OutputSpec::Kind::tensor;
  };
  if (std::ranges::any_of(program.outputs, is_next_value)) return true;
  std::set<std::string> of_model;  // names of its tensors, and of what may be a view of them
  for (const InputSpec& input : program.inputs)
    if (!input.path.empty()) of_model.insert(input.name);
  for (const Node& node : program.nodes) {
    const ir::OpSchema* schema = ir::find_schema(operator_of(node.target));
    if (!schema || !may_share(*schema) || node.inputs.empty()) continue;
    const std::vector<std::string> from = names_in(node.inputs[0].value);
    if (from.size() != 1 || !of_model.contains(from[0])) continue;
    if (schema->arguments[0].changes) return true;
    for (const Tree& output : node.outputs)
      for (const std::string& name : names_in(output)) of_model.insert(name);
  }
  return false;
}

bool Importer::is_state(const Node& node) {
  const ir::OpSchema* schema = ir::find_schema(operator_of(node.target));
  if (!schema || schema->arguments.empty() || !schema->arguments[0].changes || node.inputs.empty())
    return false;
  const std::vector<std::string> from = names_in(node.inputs[0].value);
  if (from.size() != 1) return false;
  const std::string memory = memory_of(from[0]);
  if (!state_.contains(memory)) return false;
  changed_tensors_.insert(slot(memory).path);
  for (const std::string& result : names_in(node.outputs.at(0))) same_memory_[result] = memory;
  return true;
}

void Importer::add_state() {
  for (const std::string& path : kept_paths_) {
    const Array& value = graph_.tensors.at(path).value;
    add_placeholder(input_name(program_, path),
                    ir::ValueInfo::tensor(value.dtype(), value.shape()));
    kept_.at(path).input = graph_.placeholders().back();
    slots_.at(kept_.at(path).name) = {ir::NodeRef{kept_.at(path).input}, ""};
  }
}

std::set<std::string> Importer::needed_state(const ir::Value& result) const {
  std::set<ir::NodeId> seen;
  std::vector<ir::NodeId> open;
  const auto see = [&](const ir::Value& value) {
    value.for_each_node([&](ir::NodeId id) { open.push_back(id); });
    while (!open.empty()) {
      const ir::NodeId id = open.back();
      open.pop_back();
      if (!seen.insert(id).second) continue;
      for (const ir::NodeId input : graph_.inputs(id)) open.push_back(input);
    }
  };
  see(result);
  std::set<std::string> needed;
  for (bool more = true; more;) {
    more = false;
    for (const auto& [path, kept] : kept_)
      if (seen.contains(kept.input) && needed.insert(path).second) {
        see(kept.next);
        more = true;
      }
  }
  return needed;
}

ir::Value Importer::with_state(const ir::Value& result) {
  for (auto& [path, kept] : kept_) {
    const Slot& last = current(kept.name);
    kept.next = last.path.empty() ? last.value : ir::Value("@" + last.path);
  }
  for (const OutputSpec& output : program_.outputs)
    if (const auto kept = kept_.find(output.path);
        output.kind == OutputSpec::Kind::tensor && kept != kept_.end())
      kept->second.next = argument(output.value, nullptr);
  for (auto& [path, kept] : kept_) read_tensors(kept.next);
  const std::set<std::string> needed = needed_state(result);
  std::erase_if(kept_, [&](const auto& entry) { return !needed.contains(entry.first); });
  if (kept_.empty()) return result;
  ir::Value::Dict entries = entries_of(result);
  for (const auto& [path, kept] : kept_) {
    const std::string name = state_name(path);
    const bool taken =
        std::ranges::find(entries, name, &ir::Value::Dict::value_type::first) != entries.end();
    entries.emplace_back(taken ? name + "_state" : name, kept.next);
  }
  return ir::Value::dict(std::move(entries));
}

void Importer::finish_state() {
  for (const ir::NodeId id : graph_.placeholders()) {
    const auto is_kept = [&](const auto& entry) { return entry.second.input == id; };
    const auto is_user = [&](const InputSpec& input) {
      return input.kind == InputSpec::Kind::user && input.name == graph_.node(id).target;
    };
    if (std::ranges::none_of(program_.inputs, is_user) && std::ranges::none_of(kept_, is_kept))
      graph_.erase(id);
  }
  std::vector<std::string> names;
  for (const auto& [path, kept] : kept_) {
    const ir::Node& input = graph_.node(kept.input);
    ir::Tensor beginning{graph_.tensors.at(path).value};
    beginning.begins = input.target;
    graph_.set_tensor(path, std::move(beginning));
    names.push_back(input.target + " " + std::string(dtype_name(input.info.dtype)) +
                    shape_text(input.info.shape));
  }
  if (!names.empty())
    imported_.notes.push_back("the state that it keeps between runs becomes inputs and results: " +
                              join(names, ", "));
  for (const std::string& path : changed_tensors_)
    if (!kept_.contains(path))
      imported_.notes.push_back("the model changes the tensor '" + path +
                                "', which no result depends on; the graph leaves this out");
}

void Importer::find_unsettled() {
  for (const std::string& path : changed_tensors_)
    if (!kept_paths_.contains(path) &&
        (graph_.tensors.contains(path) || read_again_.contains(path)))
      unsettled_.insert(path);
}

}  // namespace mase::pt2
