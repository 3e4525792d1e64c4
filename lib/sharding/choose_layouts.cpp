// SPDX-License-Identifier: Apache-2.0
// Builds the network of costs of a graph, and reads layouts from its cheapest assignment.
#include "sharding/choose_layouts.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "base/error.hpp"
#include "base/text.hpp"
#include "ir/op_table.hpp"

namespace mase::sharding {
namespace {

constexpr double forbidden = std::numeric_limits<double>::infinity();

/// The layouts of a tensor without partial sums.
std::vector<Layout> all_layouts(const Mesh& mesh, const Shape& shape) {
  std::vector<Layout> all{Layout::whole(shape.size())};
  for (std::size_t axis = 0; axis < axis_count; ++axis) {
    if (mesh.sizes[axis] == 1) continue;
    const std::size_t before = all.size();
    for (std::size_t i = 0; i < before; ++i)
      for (std::size_t dim = 0; dim < shape.size(); ++dim) {
        Layout more = all[i];
        more.split[dim] |= only_axis(axis);
        if (fits(mesh, more, shape)) all.push_back(std::move(more));
      }
  }
  return all;
}

std::vector<Layout> results_of(const std::vector<Strategy>& strategies) {
  std::vector<Layout> all;
  for (const Strategy& strategy : strategies) all.push_back(strategy.result);
  return all;
}

std::vector<Layout> operand_of(const std::vector<Strategy>& strategies, std::size_t operand) {
  std::vector<Layout> all;
  for (const Strategy& strategy : strategies) all.push_back(strategy.operands[operand]);
  return all;
}

AxisSet used_axes(const Layout& layout) {
  AxisSet axes = layout.partial;
  for (const AxisSet split : layout.split) axes |= split;
  return axes;
}

/// The greatest dimension of a result, as an example of what a mesh does not divide.
std::string greatest_dimension(const ir::Graph& graph) {
  std::int64_t greatest = 0;
  std::string text = "it has no dimensions";
  for (const ir::NodeId id : graph.order()) {
    const ir::Node& node = graph.node(id);
    const Shape* shape = shape_of(node.info);
    if (!shape || !has_layout(graph, node)) continue;
    for (std::size_t dim = 0; dim < shape->size(); ++dim) {
      if ((*shape)[dim] <= greatest) continue;
      greatest = (*shape)[dim];
      text = "the greatest dimension, " + std::to_string(dim) + " of '" + node.name + "', has " +
             std::to_string(greatest) + " places";
    }
  }
  return text;
}

void require_shared(const ir::Graph& graph, const LayoutNetwork& network, const Mesh& mesh) {
  for (std::size_t axis = 0; axis < axis_count; ++axis)
    if (mesh.sizes[axis] > 1 && !has(network.shared_axes(), axis))
      config_error("mesh_shape: the " + std::to_string(mesh.sizes[axis]) + " devices along axis " +
                   std::to_string(axis) + " cannot share the work of any node in equal parts; " +
                   greatest_dimension(graph));
}

[[noreturn]] void too_little_memory(const ir::Graph& graph, const LayoutNetwork& network,
                                    const Mesh& mesh) {
  const std::string* greatest = nullptr;
  for (const auto& [path, tensor] : graph.tensors)
    if (!greatest || tensor.value.byte_size() > graph.tensors.at(*greatest).value.byte_size())
      greatest = &path;
  double least = 0;
  for (const CostNetwork::Variable& variable : network.costs().variables)
    if (!variable.weight.empty()) least += *std::ranges::min_element(variable.weight);
  config_error("device_memory is too little: the stored tensors need at least " +
               fixed_text(least, 0) + " bytes on each of " + std::to_string(mesh.devices()) +
               " devices; the greatest tensor, '" + *greatest + "', has " +
               std::to_string(graph.tensors.at(*greatest).value.byte_size()) + " bytes");
}

}  // namespace

bool has_layout(const ir::Graph& graph, const ir::Node& node) {
  if (node.kind == ir::NodeKind::get_attr) return false;
  if (node.kind == ir::NodeKind::output || shape_of(node.info)) return true;
  const bool is_size = ir::classify(graph, node).family() == ir::OpFamily::size;
  if (is_size && node.info.kind == ir::ValueInfo::Kind::integer) return false;
  return !operands_of(graph, node).empty();
}

double NodeLayout::moving() const {
  double sum = departure.seconds + leaving.seconds;
  for (const Reshard& arrival : arrivals) sum += arrival.seconds;
  return sum;
}

GraphPart whole_graph(const ir::Graph& graph) {
  GraphPart part;
  for (const ir::NodeId id : graph.order())
    if (has_layout(graph, graph.node(id))) part.nodes.push_back(id);
  return part;
}

LayoutNetwork::LayoutNetwork(const ir::Graph& graph, const GraphPart& part, const Mesh& mesh,
                             const Demands& demands, double most_bytes)
    : mesh_(mesh), resharder_(mesh), leaving_(part.leaving) {
  costs_.most_weight = most_bytes;
  for (const ir::NodeId id : part.nodes) add(graph.node(id), graph, demands);
}

void LayoutNetwork::add(const ir::Node& node, const ir::Graph& graph, const Demands& demands) {
  NodeVariables made;
  made.info = node.info;
  made.operands = operands_of(graph, node);
  const std::vector<Split> splits = splits_of(graph, node, made.operands);
  made.strategies = strategies_of(mesh_, node, made.operands, splits, demands);
  CostNetwork::Variable own;
  for (const Strategy& strategy : made.strategies) {
    for (const Layout& layout : strategy.operands) shared_ |= used_axes(layout);
    shared_ |= used_axes(strategy.result);
    own.costs.push_back(strategy.seconds);
    own.weight.push_back(strategy.bytes);
  }
  if (std::ranges::all_of(own.weight, [](double bytes) { return bytes == 0; })) own.weight.clear();
  made.own = costs_.variables.size();
  costs_.variables.push_back(std::move(own));
  connect(made);
  add_result(node, made);
  if (leaving_.contains(node.id)) add_leaving(made);
  nodes_.emplace(node.id, std::move(made));
}

/// A list is not moved as one, and what is whole anyway can be split by each reader for free.
void LayoutNetwork::add_result(const ir::Node& node, NodeVariables& made) {
  if (made.strategies.size() == 1 || !node.info.is_tensor()) return;
  made.found = all_layouts(mesh_, node.info.shape);
  made.result = costs_.variables.size();
  costs_.variables.push_back({std::vector<double>(made.found.size(), 0.0), {}});
  add_pair(made.own, results_of(made.strategies), made.result, made.found, node.info);
}

/// A result without layouts to choose from is whole anyway.
void LayoutNetwork::add_leaving(const NodeVariables& made) {
  const Layout whole = Layout::whole(made.info.shape.size());
  for (std::size_t i = 0; i < made.found.size(); ++i)
    costs_.variables[made.result].costs[i] += seconds(made.found[i], whole, made.info);
}

void LayoutNetwork::connect(const NodeVariables& reader) {
  for (std::size_t i = 0; i < reader.operands.size(); ++i) {
    const Operand& operand = reader.operands[i];
    if (operand.is_stored() || !nodes_.contains(operand.source)) continue;
    const NodeVariables& source = nodes_.at(operand.source);
    const bool moved = !source.found.empty();
    add_pair(moved ? source.result : source.own,
             moved ? source.found : results_of(source.strategies), reader.own,
             operand_of(reader.strategies, i), operand.info);
  }
}

void LayoutNetwork::add_pair(std::size_t first, const std::vector<Layout>& from, std::size_t second,
                             const std::vector<Layout>& to, const ir::ValueInfo& info) {
  CostNetwork::Pair pair{first, second, {}};
  for (const Layout& before : from)
    for (const Layout& after : to) pair.costs.push_back(seconds(before, after, info));
  costs_.pairs.push_back(std::move(pair));
}

double LayoutNetwork::seconds(const Layout& from, const Layout& to, const ir::ValueInfo& info) {
  if (from == to) return 0;
  if (!info.is_tensor()) return forbidden;
  const auto& all = resharder_.all_from(from, info.shape, size_of(info.dtype));
  const auto found = all.find(to);
  return found == all.end() ? forbidden : found->second.seconds;
}

Reshard LayoutNetwork::way(const Layout& from, const Layout& to, const ir::ValueInfo& info) {
  if (from == to) return {};
  return resharder_.find(from, to, info.shape, size_of(info.dtype));
}

Layouts LayoutNetwork::read(const std::vector<std::size_t>& choices) {
  Layouts layouts;
  layouts.variables = costs_.variables.size();
  for (const auto& [id, made] : nodes_) {
    NodeLayout layout{made.operands, made.strategies[choices[made.own]], {}, {}, {}, {}};
    layout.result = made.found.empty() ? layout.strategy.result : made.found[choices[made.result]];
    if (leaving_.contains(id))
      layout.leaving = way(layout.result, Layout::whole(layout.result.split.size()), made.info);
    layouts.bytes += layout.strategy.bytes;
    layouts.nodes.emplace(id, std::move(layout));
  }
  for (auto& [id, layout] : layouts.nodes) {
    for (std::size_t i = 0; i < layout.operands.size(); ++i) {
      const Operand& operand = layout.operands[i];
      const auto source = layouts.nodes.find(operand.source);
      const Layout& wanted = layout.strategy.operands[i];
      if (operand.is_stored())
        layout.arrivals.emplace_back();
      else if (source == layouts.nodes.end())
        layout.arrivals.push_back(way(Layout::whole(wanted.split.size()), wanted, operand.info));
      else
        layout.arrivals.push_back(way(source->second.result, wanted, operand.info));
    }
    if (!nodes_.at(id).found.empty())
      layout.departure = way(layout.strategy.result, layout.result, nodes_.at(id).info);
    layouts.seconds += layout.strategy.seconds + layout.moving();
  }
  return layouts;
}

Layouts choose_layouts(const ir::Graph& graph, const Mesh& mesh, const Demands& demands,
                       double most_bytes, const SolverOptions& options) {
  LayoutNetwork network(graph, whole_graph(graph), mesh, demands, most_bytes);
  require_shared(graph, network, mesh);
  const Assignment found = cheapest(network.costs(), options);
  if (!found.exists) too_little_memory(graph, network, mesh);
  Layouts layouts = network.read(found.choices);
  layouts.in_program = found.in_program;
  return layouts;
}

}  // namespace mase::sharding
