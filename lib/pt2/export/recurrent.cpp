// SPDX-License-Identifier: Apache-2.0
// Recurrent layers and cells as the steps of torch.nn: the zeros that they begin with unless a
// state is given, and the operator of ATen, which takes a batch and all weights in one list.
#include <map>
#include <utility>

#include "base/error.hpp"
#include "pt2/dtypes.hpp"
#include "pt2/export/steps.hpp"
#include "pt2/recurrent_rows.hpp"

namespace mase::pt2 {
namespace {

using Tensors = std::map<std::string, ir::Value::List>;  ///< by the layer's argument

/// The order of a level's tensors in ATen's list.
constexpr const char* level_order[] = {"weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr"};

class RecurrentSteps {
 public:
  RecurrentSteps(Steps& steps, const RecurrentRow& row, const ir::Node& node)
      : steps_(steps), row_(row), node_(node), module_(steps.graph().module_of(node)) {
    for (const auto& [argument, path] : module_.tensors)
      tensors_[argument].emplace_back(ir::NodeRef{steps_.tensor(path)});
    batched_ = steps_.info(node_.find("input")->node()).shape.size() == (row_.cell ? 2u : 3u);
  }

  /// What the layer returns: (output, h) or (output, (h, c)); a cell h or (h, c).
  ir::Value write() {
    const ir::Value input = with_rows(*node_.find("input"), place_of_rows());
    const ir::Value::List state = state_for(input);
    std::vector<ir::Argument> args{{"input", input},
                                   {"hx", row_.two ? ir::Value::list(state) : state[0]}};
    if (row_.cell)
      add_cell_tensors(args);
    else
      add_levels(args);
    return results({steps_.add(std::string(row_.aten), std::move(args))});
  }

 private:
  /// The dimension of the input that has the rows.
  std::int64_t place_of_rows() const {
    const ir::Value* first = module_.attribute("batch_first");
    return row_.cell || (first && *first == ir::Value(true)) ? 0 : 1;
  }
  std::int64_t place_in_state() const { return row_.cell ? 0 : 1; }

  ir::Value step(const char* op, std::vector<ir::Argument> args) {
    return ir::NodeRef{steps_.add(op, std::move(args))};
  }
  ir::Value with_rows(const ir::Value& value, std::int64_t place) {
    return batched_ ? value : step("aten::unsqueeze", {{"self", value}, {"dim", place}});
  }
  ir::Value without_rows(const ir::Value& value, std::int64_t place) {
    return batched_ ? value : step("aten::squeeze.dim", {{"self", value}, {"dim", place}});
  }
  ir::Value item(const ir::Value& of, std::int64_t index) {
    return step("mase::getitem", {{"value", of}, {"index", index}});
  }

  ir::Value zeros(const ir::Value& input, std::int64_t features) {
    ir::Value::List size{step("aten::size.int", {{"self", input}, {"dim", place_of_rows()}}),
                         features};
    if (!row_.cell)
      size.insert(size.begin(), static_cast<std::int64_t>(tensors_.at("weight_hh").size()));
    std::vector<ir::Argument> args{{"size", ir::Value::list(std::move(size))}};
    const DType dtype = steps_.info(input.node()).dtype;
    if (dtype != DType::float32) args.push_back({"dtype", row_of(dtype).in_torch});
    return step("aten::zeros", std::move(args));
  }

  ir::Value::List state_for(const ir::Value& input) {
    const ir::Value* given = node_.find("hx");
    if (!given || given->is_none()) {
      const Shape weight = steps_.info(tensors_.at("weight_hh")[0].node()).shape;
      ir::Value::List state{zeros(input, weight[1])};
      if (row_.two) state.push_back(zeros(input, weight[0] / row_.gates));
      return state;
    }
    ir::Value::List state{*given};
    if (row_.two && given->is_node()) state = {item(*given, 0), item(*given, 1)};
    if (row_.two && !given->is_node()) state = given->items();
    for (ir::Value& one : state) one = with_rows(one, place_in_state());
    return state;
  }

  void add_cell_tensors(std::vector<ir::Argument>& args) {
    constexpr std::pair<const char*, const char*> names[] = {
        {"w_ih", "weight_ih"}, {"w_hh", "weight_hh"}, {"b_ih", "bias_ih"}, {"b_hh", "bias_hh"}};
    for (const auto& [argument, name] : names)
      if (tensors_.contains(name)) args.push_back({argument, tensors_.at(name)[0]});
  }

  void add_levels(std::vector<ir::Argument>& args) {
    ir::Value::List all;
    for (std::size_t i = 0; i < tensors_.at("weight_ih").size(); ++i)
      for (const char* name : level_order)
        if (tensors_.contains(name)) all.push_back(tensors_.at(name).at(i));
    const auto constant = [&](const char* name, ir::Value otherwise) {
      const ir::Value* value = module_.attribute(name);
      return value ? *value : otherwise;
    };
    args.push_back({"params", ir::Value::list(std::move(all))});
    args.push_back({"has_biases", tensors_.contains("bias_ih")});
    args.push_back({"num_layers", constant("num_layers", 1)});
    args.push_back({"dropout", constant("dropout", 0.0)});
    args.push_back({"train", false});
    args.push_back({"bidirectional", constant("bidirectional", false)});
    args.push_back({"batch_first", constant("batch_first", false)});
  }

  ir::Value results(ir::NodeRef call) {
    const bool single = row_.cell && !row_.two;
    const auto result = [&](std::int64_t index, std::int64_t place) {
      return without_rows(single ? ir::Value(call) : item(call, index), place);
    };
    const std::int64_t first = row_.cell ? 0 : 1;
    ir::Value state = result(first, place_in_state());
    if (row_.two) state = ir::Value::tuple({state, result(first + 1, place_in_state())});
    return row_.cell ? state : ir::Value::tuple({result(0, place_of_rows()), state});
  }

  Steps& steps_;
  const RecurrentRow& row_;
  const ir::Node& node_;
  const ir::Module& module_;
  Tensors tensors_;
  bool batched_ = true;
};

/// Puts a value in the place of a node, and its parts into those of subscripts of the node.
void substitute(ir::Graph& graph, ir::NodeId id, const ir::Value& value) {
  for (const ir::NodeId user : graph.users(id)) {
    ir::Node& node = graph.node(user);
    const bool is_part = node.op == "mase::getitem" && node.args[0].value == ir::NodeRef{id} &&
                         value.kind() == ir::Value::Kind::tuple;
    if (is_part)
      substitute(graph, user,
                 value.items().at(static_cast<std::size_t>(node.args[1].value.as_int())));
    else
      for (ir::Argument& argument : node.args)
        argument.value.change_nodes(
            [&](ir::NodeId one) { return one == id ? value : ir::Value(ir::NodeRef{one}); });
  }
  graph.erase(id);
}

}  // namespace

bool expand_recurrent(Expanded& expanded, ir::NodeId id) {
  const ir::Node node = expanded.graph.node(id);
  const RecurrentRow* row = recurrent_row(&RecurrentRow::op, node.op);
  // Packed sequences have as many rows as their values say.
  if (!row || node.kind != ir::NodeKind::call_module || node.find("batch_sizes")) return false;
  Steps steps(expanded, id, node);
  substitute(expanded.graph, id, RecurrentSteps(steps, *row, node).write());
  return true;
}

}  // namespace mase::pt2
