// SPDX-License-Identifier: Apache-2.0
// Reads stages from metadata, and makes nodes that send and receive.
#include "sharding/stage_transfers.hpp"

#include <string>

#include "sharding/layout_metadata.hpp"
#include "sharding/node_part.hpp"

namespace mase::sharding {

StageTransfers::StageTransfers(const ir::Graph& graph, std::int64_t devices, std::int64_t rank,
                               std::size_t stages)
    : devices_(devices), place_(rank % devices), stages_(stages) {
  for (const ir::NodeId id : graph.order()) {
    const ir::Node& node = graph.node(id);
    if (is_everywhere(node) || !has_layout(graph, node)) continue;
    const std::size_t stage = stage_[id] = read_stage(node, stages);
    for (const Operand& operand : operands_of(graph, node))
      if (!operand.is_stored() && !is_everywhere(graph.node(operand.source)))
        readers_[operand.source].insert(stage);
  }
}

bool StageTransfers::is_everywhere(const ir::Node& node) {
  return node.kind == ir::NodeKind::placeholder || node.kind == ir::NodeKind::get_attr;
}

const std::set<std::size_t>& StageTransfers::readers(const ir::Node& node) const {
  static const std::set<std::size_t> none;
  const auto found = readers_.find(node.id);
  return found == readers_.end() ? none : found->second;
}

ir::Node StageTransfers::send(ir::NodeId self, const ir::ValueInfo& info, std::size_t stage,
                              std::int64_t tag) const {
  return call("send", {{"self", ir::NodeRef{self}}, {"to", peer(stage)}, {"tag", tag}}, info);
}

ir::Node StageTransfers::receive(const ir::ValueInfo& info, std::size_t stage,
                                 std::int64_t tag) const {
  ir::Value::List shape;
  for (const std::int64_t size : info.shape) shape.emplace_back(size);
  return call("receive",
              {{"shape", ir::Value::list(std::move(shape))},
               {"dtype", std::string(dtype_name(info.dtype))},
               {"from", peer(stage)},
               {"tag", tag}},
              info);
}

ir::Node StageTransfers::call(const char* name, std::vector<ir::Argument> args,
                              const ir::ValueInfo& info) const {
  ir::Value::List after;
  if (last_ != ir::no_node) after.emplace_back(ir::NodeRef{last_});
  args.push_back({"after", ir::Value::list(std::move(after))});
  ir::Node node = call_of(std::string("mase::") + name, std::move(args));
  node.info = ir::ValueInfo::tensor(info.dtype, info.shape);
  return node;
}

std::int64_t StageTransfers::peer(std::size_t stage) const {
  return static_cast<std::int64_t>(stage) * devices_ + place_;
}

}  // namespace mase::sharding
