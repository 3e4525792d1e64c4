// SPDX-License-Identifier: Apache-2.0
// Rows of recurrent layers and cells of torch.nn. ONNX stacks their matrices in another order, and
// has one operator for each level. Packed sequences stay padded, with their lengths beside them.
#include <algorithm>
#include <initializer_list>
#include <map>
#include <utility>

#include "onnx/export/rows.hpp"

namespace mase::onnx {
namespace {

/// An operator of ONNX: the places in torch.nn of its gates, and its functions if they are not the
/// usual ones.
struct RecurrentKind {
  std::string_view op;
  Integers gates;
  Attribute::Strings functions = {};
  bool cell = false;  ///< one step

  bool has_memory() const { return gates.size() == 4; }
};

/// Whether all that read packed data, or what layers make of them, take them as packed.
bool stays_packed(const ir::Graph& graph, ir::NodeId data) {
  return std::ranges::all_of(graph.users(data), [&](ir::NodeId id) {
    const ir::Node& user = graph.node(id);
    if (user.op == "aten::_pad_packed_sequence") return true;
    if (!graph.argument(user, "batch_sizes")) return false;
    return std::ranges::all_of(graph.users(id), [&](ir::NodeId item) {
      const ir::Value* index = graph.node(item).find("index");
      return (index && !(*index == ir::Value(0))) || stays_packed(graph, item);
    });
  });
}

/// How many pairs of an element of `left` and one of `right` have the left one larger, by the
/// places in `left` (axis 1) or in `right` (axis 0).
std::string larger_pairs(NodeWriter& node, const std::string& left, const std::string& right,
                         std::int64_t axis) {
  const std::string larger =
      node.write("Greater", {node.unsqueezed(left, {1}), node.unsqueezed(right, {0})});
  return node.write("ReduceSum",
                    {node.cast(larger, DType::boolean, DType::int64), node.ints({axis})},
                    {attribute("keepdims", std::int64_t{0})});
}

/// 0, 1, ... below a number of one dimension.
std::string counted_to(NodeWriter& node, const std::string& count) {
  const std::string end = node.write("Squeeze", {count, node.ints({0})});
  return node.write("Range", {node.scalar(0, DType::int64), end, node.scalar(1, DType::int64)});
}

/// [steps, rows, features] and the number of rows at each step.
void pack(NodeWriter& node) {
  for (const ir::NodeId item : node.graph().users(node.node().id)) {
    const ir::Value* index = node.graph().node(item).find("index");
    if (index && *index == ir::Value(0) && !stays_packed(node.graph(), item))
      node.refuse("its packed elements are read by more than recurrent layers");
  }
  const std::string lengths = node.operand("lengths", DType::int64);
  std::string x = node.tensor("input");
  if (node.flag("batch_first", false)) x = node.transposed(x, node.rank("input"), 0, 1);
  const std::string steps = node.write("ReduceMax", {lengths, node.ints({0})});
  const std::string data = node.write("Slice", {x, node.ints({0}), steps, node.ints({0})});
  // Row i runs at step t if its length is above t.
  const std::string rows = larger_pairs(node, lengths, counted_to(node, steps), 0);
  node.finish_as({data, rows});
}

/// The length of each row, from the number of rows at each step.
std::string lengths_of(NodeWriter& node, const std::string& x) {
  const std::string rows = counted_to(node, node.shape_part(x, 1, 2));
  return larger_pairs(node, node.operand("batch_sizes", DType::int64), rows, 0);
}

void unpack(NodeWriter& node) {
  if (node.number("padding_value", 0) != 0) node.refuse("it pads with other numbers than 0");
  std::string x = node.tensor("data");
  const std::string lengths = lengths_of(node, x);
  const ir::Value* total = node.find("total_length");
  if (total && !(*total == ir::Value(-1))) {
    const std::string end = node.sizes(ir::Value::list({*total}));
    const std::string more = node.write("Sub", {end, node.shape_part(x, 0, 1)});
    const std::string shape = node.write("Concat", {more, node.shape_part(x, 1, 3)}, {along(0)});
    const std::string zeros = node.write("Expand", {node.scalar(0, node.dtype("data")), shape});
    x = node.write("Concat", {x, zeros}, {along(0)});
  }
  if (node.flag("batch_first", false)) x = node.transposed(x, 3, 0, 1);
  node.finish_as({x, lengths});
}

/// Rows of sequences are [steps, rows, features] inside; a cell has one step.
class RecurrentWriter {
 public:
  RecurrentWriter(NodeWriter& node, const RecurrentKind& kind) : node_(node), kind_(kind) {}

  void write() {
    if (node_.node().kind != ir::NodeKind::call_module)
      node_.refuse("it is called as a function; only layers of torch.nn are exported");
    if (node_.has("weight_hr")) node_.refuse("the operator of ONNX has no projection (proj_size)");
    for (const char* argument : {"weight_ih", "weight_hh", "bias_ih", "bias_hh"})
      if (node_.has(argument)) tensors_[argument] = node_.layer_tensors(argument);
    std::string x = by_steps(node_.tensor("input"));
    if (is_packed()) lengths_ = node_.cast(lengths_of(node_, x), DType::int64, DType::int32);
    const Names initial = initial_states();
    std::vector<Names> last(kind_.has_memory() ? 2 : 1);
    for (std::size_t level = 0; level < levels(); ++level) {
      const Names results = level_of(x, level, initial);
      x = joined_directions(results[0]);
      for (std::size_t i = 0; i < last.size(); ++i) last[i].push_back(results[i + 1]);
    }
    finish(x, last);
  }

 private:
  std::size_t directions() const { return node_.flag("bidirectional", false) ? 2 : 1; }
  std::size_t levels() const { return tensors_.at("weight_hh").size() / directions(); }
  bool is_packed() const { return node_.has("batch_sizes"); }
  bool is_batched() const { return is_packed() || node_.rank("input") == (kind_.cell ? 2 : 3); }
  bool rows_first() const {
    return is_batched() && !is_packed() && node_.flag("batch_first", false);
  }

  std::string squeezed(const std::string& x, std::int64_t axis) {
    return node_.write("Squeeze", {x, node_.ints({axis})});
  }
  std::string concat(const Names& parts) {
    if (parts.size() == 1) return parts[0];
    return node_.write("Concat", parts, {along(0)});
  }

  std::string by_steps(const std::string& x) {
    if (rows_first()) return node_.transposed(x, 3, 0, 1);
    if (!is_batched()) return node_.unsqueezed(x, kind_.cell ? Integers{0, 1} : Integers{1});
    return kind_.cell ? node_.unsqueezed(x, {0}) : x;
  }

  /// The given states as [levels and directions, rows, features]: h, and c if there is one.
  Names initial_states() {
    const ir::Value* given = node_.find("hx");
    if (!given) return {};
    Names states;
    if (given->is_node())
      states = node_.values(given->node());
    else
      for (const ir::Value& item : given->items()) states.push_back(node_.value(item.node()));
    for (std::string& state : states)
      if (kind_.cell)
        state = node_.unsqueezed(state, is_batched() ? Integers{0} : Integers{0, 1});
      else if (!is_batched())
        state = node_.unsqueezed(state, {1});
    return states;
  }

  /// The parts [gates * hidden, ...] of a matrix or bias in ONNX's order.
  Names in_order(const std::string& tensor) {
    if (kind_.gates.size() == 1) return {tensor};
    const std::int64_t hidden = hidden_size();
    Names parts;
    for (const std::int64_t gate : kind_.gates)
      parts.push_back(node_.write("Slice", {tensor, node_.ints({gate * hidden}),
                                            node_.ints({(gate + 1) * hidden}), node_.ints({0})}));
    return parts;
  }
  std::int64_t hidden_size() const { return node_.tensor_shape("weight_hh").at(1); }

  /// [directions, ...]; `arguments` are one behind the other.
  std::string stacked(std::initializer_list<const char*> arguments, std::size_t level) {
    Names all;
    for (std::size_t direction = 0; direction < directions(); ++direction) {
      Names parts;
      for (const char* argument : arguments)
        for (const std::string& part :
             in_order(tensors_.at(argument).at(level * directions() + direction)))
          parts.push_back(part);
      all.push_back(node_.unsqueezed(concat(parts), {0}));
    }
    return concat(all);
  }

  std::string of_level(const std::string& states, std::size_t level) {
    if (levels() == 1) return states;
    const auto first = static_cast<std::int64_t>(level * directions());
    const auto end = first + static_cast<std::int64_t>(directions());
    return node_.write("Slice", {states, node_.ints({first}), node_.ints({end}), node_.ints({0})});
  }

  /// The results of a level: all steps, the last h, and the last c if there is one.
  Names level_of(const std::string& x, std::size_t level, const Names& initial) {
    Names operands{x, stacked({"weight_ih"}, level), stacked({"weight_hh"}, level),
                   tensors_.contains("bias_ih") ? stacked({"bias_ih", "bias_hh"}, level) : ""};
    operands.push_back(lengths_);
    for (const std::string& state : initial) operands.push_back(of_level(state, level));
    while (operands.back().empty()) operands.pop_back();
    Attributes attributes{
        attribute("hidden_size", hidden_size()),
        attribute("direction", std::string(directions() == 2 ? "bidirectional" : "forward"))};
    if (!kind_.functions.empty()) {
      Attribute::Strings functions;
      for (std::size_t i = 0; i < directions(); ++i)
        functions.insert(functions.end(), kind_.functions.begin(), kind_.functions.end());
      attributes.push_back(attribute("activations", std::move(functions)));
    }
    if (kind_.op == "GRU") attributes.push_back(attribute("linear_before_reset", std::int64_t{1}));
    return node_.write_list(kind_.op, operands, kind_.has_memory() ? 3 : 2, std::move(attributes));
  }

  /// [steps, directions, rows, features] as [steps, rows, features of both].
  std::string joined_directions(const std::string& steps) {
    if (directions() == 1) return squeezed(steps, 1);
    const std::string turned = node_.transposed(steps, 4, 1, 2);
    return node_.write("Reshape", {turned, node_.ints({0, 0, -1})});
  }

  void finish(const std::string& steps, const std::vector<Names>& last) {
    Names states;
    for (const Names& levels : last) states.push_back(concat(levels));
    for (std::string& state : states) {
      if (kind_.cell) state = squeezed(state, 0);
      if (!is_batched()) state = squeezed(state, kind_.cell ? 0 : 1);
    }
    if (kind_.cell) return node_.finish_as(states);
    std::string all = steps;
    if (rows_first()) all = node_.transposed(all, 3, 0, 1);
    if (!is_batched()) all = squeezed(all, 1);
    states.insert(states.begin(), all);
    node_.finish_as(states);
  }

  NodeWriter& node_;
  const RecurrentKind& kind_;
  std::string lengths_;  ///< of packed sequences; "" if all have all steps
  std::map<std::string, Names, std::less<>> tensors_;  ///< one per level and direction
};

ExportRow recurrent(std::string_view op, RecurrentKind kind) {
  return {op, [kind = std::move(kind)](NodeWriter& node) { RecurrentWriter(node, kind).write(); }};
}

}  // namespace

std::vector<ExportRow> exported_recurrent() {
  const RecurrentKind lstm{"LSTM", {0, 3, 1, 2}}, gru{"GRU", {1, 0, 2}}, tanh{"RNN", {0}},
      relu{"RNN", {0}, {"Relu"}};
  const auto cell = [](RecurrentKind kind) {
    kind.cell = true;
    return kind;
  };
  return {
      {"aten::_pack_padded_sequence", pack},
      {"aten::_pad_packed_sequence", unpack},
      recurrent("mase::lstm", lstm),
      recurrent("mase::gru", gru),
      recurrent("mase::rnn_tanh", tanh),
      recurrent("mase::rnn_relu", relu),
      recurrent("mase::lstm_cell", cell(lstm)),
      recurrent("mase::gru_cell", cell(gru)),
      recurrent("mase::rnn_tanh_cell", cell(tanh)),
      recurrent("mase::rnn_relu_cell", cell(relu)),
  };
}

}  // namespace mase::onnx
