// SPDX-License-Identifier: Apache-2.0
// Observes infos with an executor, and infers them again.
#include "torch/run/observed_infos.hpp"

#include <ATen/ATen.h>

#include <map>
#include <utility>

#include "base/error.hpp"
#include "ir/inference.hpp"
#include "ir/text.hpp"
#include "torch/run/executor.hpp"
#include "torch/run/tensors.hpp"

namespace mase::test {
namespace {

/// The infos of a graph, and the integers of the nodes so far.
class RecordedResults : public ir::KnownResults {
 public:
  explicit RecordedResults(const ir::Graph& graph) : graph_(graph) {}
  const ir::ValueInfo& info(ir::NodeId id) const override { return graph_.node(id).info; }
  std::optional<std::int64_t> integer(ir::NodeId id) const override {
    const auto found = integers_.find(id);
    return found == integers_.end() ? std::nullopt : std::optional(found->second);
  }
  void note(const ir::Node& node) {
    if (const auto number = ir::host_integer(graph_, node, *this)) integers_[node.id] = *number;
  }

 private:
  const ir::Graph& graph_;
  std::map<ir::NodeId, std::int64_t> integers_;
};

/// Whether the shape of the node's result depends on values: the lengths of packed sequences.
bool depends_on_values(const ir::Node& node) {
  return node.op == "aten::_pack_padded_sequence" || node.op == "aten::_pad_packed_sequence" ||
         node.find("batch_sizes");
}

std::string found_instead(const ir::Graph& graph, const ir::Node& node,
                          const ir::KnownResults& known) {
  try {
    const auto found = ir::infer(graph, node, known);
    if (found == node.info || (!found && depends_on_values(node))) return "";
    return found ? "found " + ir::print(*found) : "found nothing";
  } catch (const Error& error) {
    return error.what();
  }
}

std::string wrong_by_infer_all(const ir::Graph& graph) {
  ir::Graph again = graph;
  for (const ir::NodeId id : again.order())
    if (again.node(id).kind != ir::NodeKind::placeholder) again.node(id).info = {};
  try {
    const ir::NodeId left = ir::infer_all(again);
    if (left != ir::no_node && !depends_on_values(again.node(left)))
      return "infer_all stops at " + again.node(left).name;
    if (left != ir::no_node) return "";
  } catch (const Error& error) {
    return std::string("infer_all: ") + error.what();
  }
  for (const ir::NodeId id : again.order())
    if (!(again.node(id).info == graph.node(id).info))
      return "infer_all differs at " + again.node(id).name;
  return "";
}

}  // namespace

void observe_infos(ir::Graph& graph) {
  std::vector<Array> inputs;
  for (const ir::NodeId id : graph.placeholders())
    inputs.push_back(libtorch::to_array(
        at::ones(graph.node(id).info.shape, libtorch::scalar_type(graph.node(id).info.dtype))));
  libtorch::Executor executor(graph, ir::Level::floating);
  std::map<ir::NodeId, ir::ValueInfo> infos;
  executor.run(libtorch::check_inputs(graph, inputs), {},
               [&](const ir::Node& node, const c10::IValue& value) {
                 infos[node.id] = libtorch::info_of(value);
               });
  for (auto& [id, info] : infos)
    if (graph.contains(id)) graph.node(id).info = std::move(info);
}

std::vector<std::string> wrong_infos(const ir::Graph& graph) {
  std::vector<std::string> wrong;
  RecordedResults known(graph);
  for (const ir::NodeId id : graph.order()) {
    const ir::Node& node = graph.node(id);
    const std::string instead = found_instead(graph, node, known);
    if (!instead.empty())
      wrong.push_back(node.name + " (" + node.op + ") is " + ir::print(node.info) + ": " + instead);
    known.note(node);
  }
  if (const std::string all = wrong_by_infer_all(graph); !all.empty()) wrong.push_back(all);
  return wrong;
}

}  // namespace mase::test
