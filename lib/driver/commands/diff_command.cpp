// SPDX-License-Identifier: Apache-2.0
// `mase diff` compares two models: their nodes, formats, tensor values and scores.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/text.hpp"
#include "driver/commands/commands.hpp"
#include "driver/evaluate.hpp"
#include "driver/loading/load_model.hpp"
#include "driver/loading/text_input.hpp"
#include "driver/make_evaluator.hpp"
#include "driver/output.hpp"
#include "driver/store/stored_points.hpp"
#include "driver/stored_data.hpp"
#include "ir/text.hpp"

namespace mase::driver {
namespace {

constexpr const char* absent = "-";

/// A property of a node that differs, and its value in each of the two models.
struct Difference {
  std::string node, what, first, second;
};

using Facts = std::map<std::string, std::string>;

void add_arguments(const ir::Graph& graph, const std::vector<ir::Argument>& arguments,
                   Facts& facts) {
  for (const ir::Argument& argument : arguments)
    facts["argument " + argument.name] = ir::print(graph, argument.value);
}

Facts facts_of(const ir::Graph& graph, const ir::Node& node) {
  Facts facts{{"kind", std::string(ir::kind_name(node.kind))},
              {"target", node.target},
              {"operator", node.op},
              {"result", ir::print(node.info)}};
  add_arguments(graph, node.args, facts);
  if (node.kind == ir::NodeKind::call_module)
    add_arguments(graph, graph.module_of(node).attributes, facts);
  for (const auto& [port, format] : node.formats) facts["format of " + port] = format.text();
  return facts;
}

std::string found(const Facts& facts, const std::string& what) {
  const auto fact = facts.find(what);
  return fact == facts.end() ? absent : fact->second;
}

void compare(const std::string& node, const Facts& first, const Facts& second,
             std::vector<Difference>& differences) {
  std::set<std::string> names;
  for (const Facts* facts : {&first, &second})
    for (const auto& fact : *facts) names.insert(fact.first);
  for (const std::string& what : names)
    if (found(first, what) != found(second, what))
      differences.push_back({node, what, found(first, what), found(second, what)});
}

/// A one-word name for what a node computes.
std::string title(const ir::Node& node) {
  return node.op.empty() ? std::string(ir::kind_name(node.kind)) : node.op;
}

/// Differences in the order of the first graph, followed by nodes that only the second has.
std::vector<Difference> compare_nodes(const ir::Graph& first, const ir::Graph& second) {
  std::vector<Difference> differences;
  for (const ir::NodeId id : first.order()) {
    const ir::Node& node = first.node(id);
    if (const ir::Node* other = second.find_node(node.name))
      compare(node.name, facts_of(first, node), facts_of(second, *other), differences);
    else
      differences.push_back({node.name, "node", title(node), absent});
  }
  for (const ir::NodeId id : second.order())
    if (const ir::Node& node = second.node(id); !first.find_node(node.name))
      differences.push_back({node.name, "node", absent, title(node)});
  return differences;
}

/// A tensor whose values, shape or element type differ.
struct TensorDifference {
  std::string path, first, second;  ///< "float32[8, 4]", or absent
  std::int64_t changed = 0;         ///< number of elements; 0 if they cannot be compared
  double largest = 0;               ///< |a - b|; NaN if an element is NaN in only one of them
  double sqnr_db = 0;               ///< the second tensor against the first
};

std::string describe(const ir::Tensor* tensor) {
  if (!tensor) return absent;
  return std::string(dtype_name(tensor->value.dtype())) + shape_text(tensor->value.shape());
}

void measure(const Array& first, const Array& second, TensorDifference& difference) {
  const Array a = first.to_float32(), b = second.to_float32();
  double signal = 0, noise = 0;
  for (std::size_t i = 0; i < a.span<float>().size(); ++i) {
    const double x = a.span<float>()[i], y = b.span<float>()[i];
    signal += x * x;
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    ++difference.changed;
    const double distance = std::fabs(x - y);
    noise += distance * distance;
    if (!(distance <= difference.largest)) difference.largest = distance;
  }
  difference.sqnr_db =
      noise == 0 ? std::numeric_limits<double>::infinity() : 10 * std::log10(signal / noise);
}

const ir::Tensor* find_tensor(const ir::Graph& graph, const std::string& path) {
  const auto tensor = graph.tensors.find(path);
  return tensor == graph.tensors.end() ? nullptr : &tensor->second;
}

/// Compares tensors by path. Tensors with equal bits do not differ.
std::vector<TensorDifference> compare_tensors(const ir::Graph& first, const ir::Graph& second) {
  std::set<std::string> paths;
  for (const ir::Graph* graph : {&first, &second})
    for (const auto& tensor : graph->tensors) paths.insert(tensor.first);
  std::vector<TensorDifference> differences;
  for (const std::string& path : paths) {
    const ir::Tensor *a = find_tensor(first, path), *b = find_tensor(second, path);
    if (a && b && a->value.same_bits(b->value)) continue;
    TensorDifference difference{path, describe(a), describe(b)};
    if (difference.first == difference.second) measure(a->value, b->value, difference);
    differences.push_back(std::move(difference));
  }
  return differences;
}

passes::ReportTable node_table(const std::vector<Difference>& differences) {
  passes::ReportTable table{"Nodes", {"Node", "What", "First", "Second"}, {}, ""};
  for (const Difference& one : differences)
    table.rows.push_back({one.node, one.what, one.first, one.second});
  return table;
}

passes::ReportTable tensor_table(const std::vector<TensorDifference>& differences) {
  passes::ReportTable table{
      "Tensors", {"Tensor", "First", "Second", "Changed", "Largest", "SQNR (dB)"}, {}, ""};
  for (const TensorDifference& one : differences) {
    const bool comparable = one.first == one.second;
    table.rows.push_back({one.path, one.first, one.second,
                          comparable ? std::to_string(one.changed) : absent,
                          comparable ? double_text(one.largest) : absent,
                          comparable ? fixed_text(one.sqnr_db, 2) : absent});
  }
  return table;
}

/// Prints the first rows of a table, and how many rows are left out.
void print_some(Output& output, passes::ReportTable table, bool all) {
  constexpr std::size_t most = 40;
  if (table.rows.empty()) return;
  const std::size_t left = all || table.rows.size() <= most ? 0 : table.rows.size() - most;
  table.rows.resize(table.rows.size() - left);
  output.table(table);
  if (left > 0) output.text("... and " + std::to_string(left) + " more; --all shows them");
}

Tree nodes_tree(const std::vector<Difference>& differences) {
  Tree rows = Tree::list();
  for (const Difference& one : differences) {
    Tree row = Tree::dict();
    row["node"] = one.node;
    row["what"] = one.what;
    row["first"] = one.first;
    row["second"] = one.second;
    rows.push_back(std::move(row));
  }
  return rows;
}

Tree tensors_tree(const std::vector<TensorDifference>& differences) {
  Tree rows = Tree::list();
  for (const TensorDifference& one : differences) {
    Tree row = Tree::dict();
    row["tensor"] = one.path;
    row["first"] = one.first;
    row["second"] = one.second;
    if (one.first == one.second) {
      row["changed"] = one.changed;
      row["largest"] = one.largest;
      row["sqnr_db"] = one.sqnr_db;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

LoadedModel load(const std::string& model, const DiffRequest& request,
                 std::optional<data::Dataset>& dataset) {
  ModelRequest wanted;
  wanted.model = model;
  wanted.input = request.input;
  take_text_options(request.data, wanted.input);
  wanted.dataset = dataset ? &*dataset : nullptr;
  wanted.example_rows = 1;
  return load_model(wanted);
}

/// Shows every figure of both models on the test rows, with their formats applied.
void report_figures(const ir::Graph& first, const ir::Graph& second, const data::Dataset& dataset,
                    Output& output) {
  const auto measured = [&](const ir::Graph& graph) {
    const auto evaluator = make_evaluator()(graph, ir::Level::quantized);
    return measure_targets(*evaluator, dataset, data::Part::test, {}).figures;
  };
  const data::Figures a = measured(first), b = measured(second);
  for (std::size_t i = 0; i < a.all.size(); ++i) {
    const data::Figure &one = a.all[i], &other = b.all[i];
    output.text(one.name + " on " + dataset.name + ": " + one.text() + ", " + other.text());
    Tree& tree = output.document()[one.name];
    tree["first"] = one.value;
    tree["second"] = other.value;
    tree["rows"] = a.rows;
  }
}

}  // namespace

int diff(const DiffRequest& given) {
  DiffRequest request = given;
  for (std::string* model : {&request.first, &request.second}) *model = local_file(*model);
  auto dataset = given_dataset({request.first, request.second}, request.data);
  const ir::Graph first = load(request.first, request, dataset).graph;
  const ir::Graph second = load(request.second, request, dataset).graph;
  const std::vector<Difference> nodes = compare_nodes(first, second);
  const std::vector<TensorDifference> tensors = compare_tensors(first, second);
  Output output(request.json);
  print_some(output, node_table(nodes), request.all);
  print_some(output, tensor_table(tensors), request.all);
  output.text("differences: " + std::to_string(nodes.size()) + " in nodes, " +
              std::to_string(tensors.size()) + " in tensors");
  output.document()["nodes"] = nodes_tree(nodes);
  output.document()["tensors"] = tensors_tree(tensors);
  if (dataset && dataset->has_labels()) report_figures(first, second, *dataset, output);
  output.finish();
  return nodes.empty() && tensors.empty() ? 0 : static_cast<int>(Fault::goal);
}

}  // namespace mase::driver
