// SPDX-License-Identifier: Apache-2.0
// Walks through the nodes in order, gives each its parts of operands, and moves what it computes.
#include "sharding/rank_graph.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "ir/op_table.hpp"
#include "sharding/array_part.hpp"
#include "sharding/known_sizes.hpp"
#include "sharding/layout_metadata.hpp"
#include "sharding/node_part.hpp"
#include "sharding/reshard.hpp"
#include "sharding/stage_transfers.hpp"

namespace mase::sharding {
namespace {

class RankGraph {
 public:
  RankGraph(const ir::Graph& graph, const Mesh& mesh, std::int64_t rank, std::size_t stages)
      : whole_(graph),
        mesh_(mesh),
        rank_(rank % mesh.devices()),
        stage_(static_cast<std::size_t>(rank / mesh.devices())),
        resharder_(mesh),
        sizes_(graph),
        part_(graph) {
    if (stages > 1) transfers_.emplace(graph, mesh.devices(), rank, stages);
  }

  ir::Graph run() {
    const std::vector<ir::NodeId> order = whole_.order();
    for (std::size_t i = 0; i < order.size(); ++i) {
      const ir::Node& node = whole_.node(order[i]);
      if (node.kind == ir::NodeKind::get_attr || is_known_size(node.id)) continue;
      const ir::NodeId next = i + 1 < order.size() ? order[i + 1] : ir::no_node;
      if (has_layout(whole_, node))
        is_elsewhere(node) ? receive(node, next) : take(node, next);
      else
        take_sizes(part_.node(node.id));
    }
    part_.remove_dead_nodes();
    ir::remove_unused_tensors(part_);
    remove_whole_tensors();
    part_.guards.clear();
    return std::move(part_);
  }

 private:
  /// A layer's own tensors stay in a graph, but of those with parts this device needs the parts.
  void remove_whole_tensors() {
    for (const auto& [path, module] : part_.modules)
      for (const auto& [argument, tensor] : module.tensors) split_.erase(tensor);
    for (const ir::NodeId id : part_.order())
      if (part_.node(id).kind == ir::NodeKind::get_attr) split_.erase(part_.node(id).target);
    for (const std::string& path : split_) part_.tensors.erase(path);
    std::erase_if(part_.tensor_order,
                  [&](const std::string& path) { return split_.contains(path); });
  }

  bool is_known_size(ir::NodeId id) const { return sizes_.integer(id).has_value(); }

  ir::Value with_sizes(ir::NodeId id) const {
    const auto size = sizes_.integer(id);
    return size ? ir::Value(*size) : ir::Value(ir::NodeRef{id});
  }

  void take_sizes(ir::Node& node) const {
    for (ir::Argument& argument : node.args)
      argument.value.change_nodes([&](ir::NodeId id) { return with_sizes(id); });
  }

  void take(const ir::Node& node, ir::NodeId next) {
    const std::vector<Operand> operands = operands_of(whole_, node);
    const StoredLayout layout = read_layout(node, operands, mesh_);
    if (node.kind == ir::NodeKind::output) return take_output(node, operands, layout);
    take_operands(node, operands, layout);
    const NodePart own{node, operands, layout, mesh_, rank_};
    const ir::NodeId computed = compute_part(part_, own, next);
    found_[node.id] = {moved(computed, node.info, layout.computed, layout.result, next),
                       layout.result};
    send(node, next);
  }

  bool is_elsewhere(const ir::Node& node) const {
    return transfers_ && node.kind != ir::NodeKind::output &&
           !StageTransfers::is_everywhere(node) && transfers_->stage(node) != stage_;
  }

  /// Another stage computes this node. Its result arrives here if this stage reads it.
  void receive(const ir::Node& node, ir::NodeId next) {
    if (!transfers_->readers(node).contains(stage_)) return;
    const ir::NodeId id =
        part_.add(transfers_->receive(node.info, transfers_->stage(node), tag(node)), next);
    transfers_->done(id);
    found_[node.id] = {id, Layout::whole(node.info.shape.size())};
  }

  void send(const ir::Node& node, ir::NodeId next) {
    if (!transfers_ || transfers_->is_everywhere(node) || !node.info.is_tensor()) return;
    const auto [id, layout] = found_.at(node.id);
    const Layout whole = Layout::whole(node.info.shape.size());
    ir::NodeId sent = ir::no_node;
    for (const std::size_t stage : transfers_->readers(node)) {
      if (stage == stage_) continue;
      if (sent == ir::no_node) sent = moved(id, node.info, layout, whole, next);
      const ir::NodeId done = part_.add(transfers_->send(sent, node.info, stage, tag(node)), next);
      transfers_->done(done);
    }
  }

  /// The last stage has the results of the graph, and sends them to all others.
  void take_output(const ir::Node& node, const std::vector<Operand>& operands,
                   const StoredLayout& layout) {
    if (!transfers_) return take_operands(node, operands, layout);
    const bool is_here = transfers_->stage(node) == stage_;
    std::map<ir::NodeId, ir::NodeId> results;
    std::size_t next = 0;
    std::vector<ir::Argument> args = node.args;
    for (ir::Argument& argument : args)
      argument.value.change_nodes([&](ir::NodeId id) -> ir::Value {
        const ir::Node& source = whole_.node(id);
        if (!shape_of(source.info)) return with_sizes(id);
        const std::size_t at = next++;
        if (operands[at].is_stored() || transfers_->is_everywhere(source))
          return ir::NodeRef{operand(node.id, operands[at], layout.operands[at])};
        if (!results.contains(id))
          results[id] = is_here ? send_result(operand(node.id, operands[at], layout.operands[at]),
                                              source, node.id)
                                : receive_result(source, transfers_->stage(node), node.id);
        return ir::NodeRef{results.at(id)};
      });
    part_.node(node.id).args = std::move(args);
  }

  ir::NodeId send_result(ir::NodeId id, const ir::Node& source, ir::NodeId before) {
    for (std::size_t stage = 0; stage < transfers_->stages(); ++stage)
      if (stage != stage_) {
        id = part_.add(transfers_->send(id, source.info, stage, tag(source) + 1), before);
        transfers_->done(id);
      }
    return id;
  }

  ir::NodeId receive_result(const ir::Node& source, std::size_t from, ir::NodeId before) {
    const ir::NodeId id =
        part_.add(transfers_->receive(source.info, from, tag(source) + 1), before);
    transfers_->done(id);
    return id;
  }

  /// Messages between two devices differ in their tags; the next number is for a result.
  static std::int64_t tag(const ir::Node& node) { return 2 * static_cast<std::int64_t>(node.id); }

  /// Puts the moved operands in the arguments, in the order in which operands_of finds them.
  void take_operands(const ir::Node& node, const std::vector<Operand>& operands,
                     const StoredLayout& layout) {
    std::size_t next = 0;
    std::vector<ir::Argument> args = node.args;
    for (ir::Argument& argument : args)
      argument.value.change_nodes([&](ir::NodeId id) -> ir::Value {
        if (!shape_of(whole_.node(id).info)) return with_sizes(id);
        const std::size_t at = next++;
        return ir::NodeRef{operand(node.id, operands[at], layout.operands[at])};
      });
    part_.node(node.id).args = std::move(args);
    if (node.kind == ir::NodeKind::call_module) take_layer(node, operands, layout, next);
  }

  ir::NodeId operand(ir::NodeId reader, const Operand& operand, const Layout& wanted) {
    if (operand.is_stored()) return stored(reader, operand, wanted);
    const auto& [id, layout] = found_.at(operand.source);
    const auto key = std::pair(operand.source, wanted);
    if (const auto known = moved_.find(key); known != moved_.end()) return known->second;
    return moved_[key] = moved(id, operand.info, layout, wanted, reader);
  }

  /// A get_attr node of this device's part of a tensor.
  ir::NodeId stored(ir::NodeId reader, const Operand& operand, const Layout& wanted) {
    const std::string path = part_path(operand.tensor, wanted);
    if (path == operand.tensor) return operand.reader;
    ir::Node node;
    node.name = operand.tensor + "_part";
    node.kind = ir::NodeKind::get_attr;
    node.target = path;
    const Array& value = part_.tensors.at(path).value;
    node.info = ir::ValueInfo::tensor(value.dtype(), value.shape());
    return part_.add(std::move(node), reader);
  }

  /// The layer with its parts of tensors; under another path where another node has other parts.
  void take_layer(const ir::Node& node, const std::vector<Operand>& operands,
                  const StoredLayout& layout, std::size_t first) {
    ir::Module module = whole_.module_of(node);
    for (std::size_t i = 0; i < module.tensors.size(); ++i)
      module.tensors[i].second = part_path(operands[first + i].tensor, layout.operands[first + i]);
    divide_groups(module.attributes, {node, operands, layout, mesh_, rank_});
    const auto [place, is_new] = layers_.try_emplace(node.target, module);
    const ir::Module& known = place->second;
    if (!is_new && (known.tensors != module.tensors || known.attributes != module.attributes)) {
      module.path += "_" + node.name;
      part_.node(node.id).target = module.path;
    }
    part_.modules[module.path] = std::move(module);
  }

  /// The path of this device's part of a tensor, which is made once for each layout.
  std::string part_path(const std::string& path, const Layout& layout) {
    if (layout == Layout::whole(layout.split.size())) return path;
    std::string name = path;
    split_.insert(path);
    for (const std::string& word : words(layout)) name += "_" + word;
    if (layout.partial != 0) name += "_sum" + std::to_string(layout.partial);
    if (part_.tensors.contains(name)) return name;
    ir::Tensor tensor = whole_.tensors.at(path);
    tensor.value = part_of(tensor.value, layout, mesh_, rank_);
    tensor.coded = nullptr;
    tensor.other_names.clear();
    part_.set_tensor(name, std::move(tensor));
    return name;
  }

  /// Adds the moves in front of the node `before`.
  ir::NodeId moved(ir::NodeId id, const ir::ValueInfo& info, const Layout& from, const Layout& to,
                   ir::NodeId before) {
    if (from == to) return id;
    Layout at = from;
    for (const Move& move : resharder_.find(from, to, info.shape, size_of(info.dtype)).moves) {
      at = sharding::after(at, move);
      ir::Node node = node_of(move, id, part_shape(mesh_, at, info.shape));
      node.info = ir::ValueInfo::tensor(info.dtype, part_shape(mesh_, at, info.shape));
      id = part_.add(std::move(node), before);
    }
    return id;
  }

  ir::Node node_of(const Move& move, ir::NodeId id, const Shape& shape) const {
    const auto axis = static_cast<std::int64_t>(move.axis);
    const auto from = static_cast<std::int64_t>(move.from), to = static_cast<std::int64_t>(move.to);
    const ir::Argument self{"self", ir::NodeRef{id}}, along{"axis", axis};
    const std::int64_t place = mesh_.place(rank_, move.axis);
    switch (move.kind) {
      case Collective::slice: {
        const std::int64_t size = shape[move.to];
        return call_of("aten::narrow",
                       {self, {"dim", to}, {"start", place * size}, {"length", size}});
      }
      case Collective::keep_first:
        return call_of(place == 0 ? "mase::identity" : "aten::zeros_like", {self});
      case Collective::all_gather:
        return call_of("mase::all_gather", {self, along, {"dim", from}});
      case Collective::all_reduce:
        return call_of("mase::all_reduce", {self, along});
      case Collective::reduce_scatter:
        return call_of("mase::reduce_scatter", {self, along, {"dim", to}});
      case Collective::all_to_all:
        return call_of("mase::all_to_all", {self, along, {"from", from}, {"to", to}});
    }
    return {};
  }

  const ir::Graph& whole_;
  const Mesh& mesh_;
  const std::int64_t rank_;  ///< in the mesh of the stage
  const std::size_t stage_;
  Resharder resharder_;
  KnownSizes sizes_;
  ir::Graph part_;
  std::optional<StageTransfers> transfers_;  ///< of a pipeline
  /// Where the readers of a node find its result, and in which layout.
  std::map<ir::NodeId, std::pair<ir::NodeId, Layout>> found_;
  std::map<std::pair<ir::NodeId, Layout>, ir::NodeId> moved_;  ///< what readers have moved already
  std::set<std::string> split_;                                ///< tensors with parts
  std::map<std::string, ir::Module> layers_;                   ///< with their parts of tensors
};

}  // namespace

ir::Graph rank_graph(const ir::Graph& graph, const Mesh& mesh, std::int64_t rank,
                     std::size_t stages) {
  const std::int64_t devices = mesh.devices() * static_cast<std::int64_t>(stages);
  MASE_CHECK(rank >= 0 && rank < devices, "a rank outside of the mesh");
  return RankGraph(graph, mesh, rank, stages).run();
}

}  // namespace mase::sharding
