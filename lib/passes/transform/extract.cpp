// SPDX-License-Identifier: Apache-2.0
// Cuts at the outputs, cuts at the inputs, then removes nodes that are no longer used.
#include "passes/transform/extract.hpp"

#include <map>
#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"

namespace mase::passes {
namespace {

const ir::Node& tensor_node(const ir::Graph& graph, const std::string& name) {
  const ir::Node* node = graph.find_node(name);
  if (node == nullptr) config_error(graph.unknown_node(name));
  if (!node->info.is_tensor())
    config_error("node '" + name + "' yields no tensor, so it cannot be an input or output");
  return *node;
}

void cut_outputs(ir::Graph& graph, const std::vector<std::string>& outputs) {
  if (outputs.empty()) return;
  ir::Value::List values;
  ir::ValueInfo tuple;
  tuple.kind = ir::ValueInfo::Kind::tuple;
  for (const std::string& name : outputs) {
    const ir::Node& node = tensor_node(graph, name);
    values.emplace_back(ir::NodeRef{node.id});
    tuple.elements.push_back(node.info);
  }
  ir::Node& output = graph.node(graph.output());
  const bool single = values.size() == 1;
  output.info = single ? tuple.elements.front() : tuple;
  *output.find("value") = single ? values.front() : ir::Value::tuple(std::move(values));
}

/// Turns the node into a placeholder at its place.
void cut_input(ir::Graph& graph, const std::string& name) {
  ir::Node& node = graph.node(tensor_node(graph, name).id);
  node.kind = ir::NodeKind::placeholder;
  node.target = name;
  node.op.clear();
  node.args.clear();
  node.formats.clear();
}

/// The results of all nodes for some inputs, by name.
std::map<std::string, Array> results_on(const ir::Graph& graph, ir::Evaluator& evaluator,
                                        const std::vector<Array>& inputs) {
  std::map<std::string, Array> results;
  const std::vector<ir::NodeId> placeholders = graph.placeholders();
  for (std::size_t i = 0; i < placeholders.size() && i < inputs.size(); ++i)
    results.emplace(graph.node(placeholders[i]).name, inputs[i]);
  evaluator.run(inputs, [&](const ir::Node& node, const std::string& port, const Array& value) {
    if (port == "data_out") results.insert_or_assign(node.name, value);
  });
  return results;
}

/// The inputs of the cut graph's placeholders; empty when one of them is unknown.
std::vector<Array> probe_of(const ir::Graph& graph, const std::map<std::string, Array>& results) {
  std::vector<Array> probe;
  for (ir::NodeId id : graph.placeholders()) {
    const auto found = results.find(graph.node(id).name);
    if (found == results.end()) return {};
    probe.push_back(found->second);
  }
  return probe;
}

/// Gives the cut graph its data by running the whole graph on the data that there was.
void give_data(const ir::Graph& whole, const ir::Graph& cut, PassContext& context) {
  std::vector<Array> probe;
  if (context.evaluator && !context.probe.empty()) {
    const auto evaluator = context.evaluator(whole, ir::Level::quantized);
    probe = probe_of(cut, results_on(whole, *evaluator, context.probe));
  }
  auto rows = std::exchange(context.training_rows, {});
  if (rows && !probe.empty())
    context.training_rows = [whole, cut, rows, make = context.evaluator](std::int64_t count,
                                                                         const SeeBatch& see) {
      const auto evaluator = make(whole, ir::Level::quantized);
      rows(count, [&](const std::vector<Array>& inputs) {
        see(probe_of(cut, results_on(whole, *evaluator, inputs)));
      });
    };
  context.start_again(cut, std::move(probe));
}

void remove_unused(ir::Graph& graph) {
  graph.remove_dead_nodes();
  for (ir::NodeId id : graph.placeholders())
    if (graph.users(id).empty()) graph.erase(id);
  ir::remove_unused_tensors(graph);
}

}  // namespace

Result Extract::run(ir::Graph& graph, const Options& options, PassContext& context) {
  const ir::Graph whole = graph;
  const std::size_t before = graph.order().size();
  cut_outputs(graph, options.outputs);
  for (const std::string& name : options.inputs) cut_input(graph, name);
  remove_unused(graph);
  give_data(whole, graph, context);
  Result result;
  result.info["nodes_before"] = before;
  result.info["nodes_after"] = graph.order().size();
  result.changed = before != graph.order().size();
  return result;
}

}  // namespace mase::passes
