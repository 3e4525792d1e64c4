// SPDX-License-Identifier: Apache-2.0
// Recurrent layers and cells of torch.nn: the operator of a whole layer, and the zeros that it
// begins with unless a state is given, are one node.
#include <algorithm>
#include <array>

#include "pt2/fields.hpp"
#include "pt2/import/importer.hpp"
#include "pt2/recurrent_rows.hpp"

namespace mase::pt2 {
namespace {

const RecurrentRow* row_of_node(const Node& node) {
  return recurrent_row(&RecurrentRow::aten, operator_of(node.target));
}

/// The tensors of a layer by the graph's argument, from the names of the program.
using TensorNames = std::vector<std::pair<std::string, std::string>>;

/// ATen's `params`: matrices, biases and projection of each level and direction in turn.
std::optional<TensorNames> level_tensors(const Node& node) {
  const Tree *params = node.find("params"), *biases = node.find("has_biases"),
             *levels = node.find("num_layers"), *both = node.find("bidirectional");
  if (!params || !biases || !levels || !both) return std::nullopt;
  const std::vector<std::string> names = names_in(*params);
  const auto count = integer_of(union_of(*levels, "num_layers").value, "num_layers") *
                     (truth_of(union_of(*both, "bidirectional").value, "bidirectional") ? 2 : 1);
  std::vector<std::string> group{"weight_ih", "weight_hh"};
  if (truth_of(union_of(*biases, "has_biases").value, "has_biases"))
    group.insert(group.end(), {"bias_ih", "bias_hh"});
  const auto places = static_cast<std::size_t>(std::max<std::int64_t>(count, 1));
  if (names.size() == places * (group.size() + 1)) group.emplace_back("weight_hr");
  if (names.size() != places * group.size()) return std::nullopt;
  TensorNames tensors;
  for (std::size_t i = 0; i < names.size(); ++i)
    tensors.emplace_back(group[i % group.size()], names[i]);
  return tensors;
}

std::optional<TensorNames> cell_tensors(const Node& node) {
  constexpr std::array<std::pair<const char*, const char*>, 4> arguments{
      {{"w_ih", "weight_ih"}, {"w_hh", "weight_hh"}, {"b_ih", "bias_ih"}, {"b_hh", "bias_hh"}}};
  TensorNames tensors;
  for (const auto& [given, argument] : arguments)
    if (const Tree* value = node.find(given); value && !names_in(*value).empty())
      tensors.emplace_back(argument, names_in(*value)[0]);
  return tensors;
}

}  // namespace

bool Importer::import_recurrent(const std::vector<const Node*>& nodes, const ModuleCall& module) {
  const Node* call = nullptr;
  std::vector<std::string> zeros;
  for (const Node* node : nodes) {
    if (operator_of(node->target) == "aten::zeros")
      zeros.push_back(names_in(node->outputs.at(0)).at(0));
    else if (call || !(call = node, row_of_node(*node)))
      return false;
  }
  if (!call) return false;
  const RecurrentRow& row = *row_of_node(*call);
  const auto tensors = row.cell ? cell_tensors(*call) : level_tensors(*call);
  const Tree *input = call->find("input"), *state = call->find("hx");
  if (!tensors || !input || !state) return false;
  ir::Module layer{module.path, module.class_name, std::string(row.op), {}, {}};
  for (const auto& [argument, name] : *tensors) {
    const std::string& path = slot(name).path;
    if (path.empty()) return false;
    layer.tensors.emplace_back(argument, path);
  }
  if (!row.cell)
    for (const char* name : {"num_layers", "dropout", "train", "bidirectional", "batch_first"})
      if (const Tree* value = call->find(name)) {
        const ir::OpSchema* schema = ir::find_schema(row.aten);
        const ir::SchemaArgument* formal = schema ? schema->find(name) : nullptr;
        layer.attributes.push_back({name, name == std::string_view("train")
                                              ? ir::Value(ir::TrainingFlag{})
                                              : argument(*value, formal)});
      }
  ir::Node node;
  node.kind = ir::NodeKind::call_module;
  node.target = module.path;
  node.op = layer.op;
  node.args = {{"input", argument(*input, nullptr)}};
  const std::vector<std::string> states = names_in(*state);
  const auto is_zeros = [&](const std::string& name) {
    return std::ranges::find(zeros, name) != zeros.end();
  };
  if (!std::ranges::all_of(states, is_zeros)) {
    if (std::ranges::any_of(states, is_zeros)) return false;
    ir::Value given = argument(*state, nullptr);
    if (given.kind() == ir::Value::Kind::list) given = ir::Value::tuple(given.items());
    read_tensors(given);
    node.args.push_back({"hx", std::move(given)});
  }
  read_tensors(node.args[0].value);
  if (!register_module(layer)) return false;
  bind_recurrent(*call, add(std::move(node), *call));
  return true;
}

void Importer::bind_recurrent(const Node& node, ir::NodeId id) {
  std::vector<std::string> names;
  for (const Tree& output : node.outputs)
    for (const std::string& name : names_in(output)) names.push_back(name);
  const auto item = [&](ir::NodeId of, std::int64_t index) {
    ir::Node one;
    one.kind = ir::NodeKind::call_function;
    one.target = "_operator.getitem";
    one.op = "mase::getitem";
    one.args = {{"value", ir::NodeRef{of}}, {"index", index}};
    return add(std::move(one), node);
  };
  const auto bind = [&](const std::string& name, ir::NodeId of) {
    define(name, {ir::NodeRef{of}, ""});
  };
  if (names.size() == 1) return bind(names[0], id);
  if (names.size() == 3) {  // an LSTM returns its output, and a tuple of two states
    const ir::NodeId output = item(id, 0), state = item(id, 1);
    bind(names[0], output);
    bind(names[1], item(state, 0));
    bind(names[2], item(state, 1));
    return;
  }
  for (std::size_t i = 0; i < names.size(); ++i)
    bind(names[i], item(id, static_cast<std::int64_t>(i)));
}

}  // namespace mase::pt2
