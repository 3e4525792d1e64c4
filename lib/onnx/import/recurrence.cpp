// SPDX-License-Identifier: Apache-2.0
// The equations of ONNX for LSTM, GRU and RNN, one step after the other.
#include "onnx/import/recurrence.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "onnx/import/importer.hpp"
#include "onnx/import/steps.hpp"

namespace mase::onnx {
namespace {

using ir::NodeId;

/// Functions by their names in ONNX; those with parameters are not among them.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> functions{
    {{"Sigmoid", "aten::sigmoid"},
     {"Tanh", "aten::tanh"},
     {"Relu", "aten::relu"},
     {"Softplus", "aten::softplus"}}};

/// State between two steps; an LSTM has a cell too.
struct State {
  NodeId hidden = ir::no_node, cell = ir::no_node;
};

/// One direction of a layer.
class Direction {
 public:
  Direction(Call& call, std::int64_t number, std::int64_t hidden)
      : call_(call), number_(number), hidden_(hidden), clip_(call.number("clip", 0.0)) {}

  std::int64_t gates() const {
    return call_.node().op == "LSTM" ? 4 : call_.node().op == "GRU" ? 3 : 1;
  }

  /// The input's share of all gates, for all steps at once: X W^T + Wb, and Rb where it is added
  /// to the same sum.
  NodeId inputs(NodeId x) {
    if (!call_.has(3)) return linear(x, part(1, 0, gates()));
    NodeId bias = part(3, 0, gates());
    const NodeId other = part(3, gates(), gates());
    if (!resets_product()) return linear(x, part(1, 0, gates()), add(bias, other));
    const NodeId both = add(gate(bias, 0, 2, 0), gate(other, 0, 2, 0));
    bias = call_.emit(
        "aten::cat",
        {{"tensors", ir::Value::list({ref(both), ref(gate(bias, 2, 1, 0))})}, {"dim", 0}});
    return linear(x, part(1, 0, gates()), bias);
  }

  /// The state behind a step whose input has this share.
  State step(NodeId input, const State& before) {
    const std::string& op = call_.node().op;
    return op == "LSTM"  ? lstm(input, before)
           : op == "GRU" ? gru(input, before)
                         : rnn(input, before);
  }

 private:
  bool resets_product() const {
    return call_.node().op == "GRU" && call_.integer("linear_before_reset", 0) != 0;
  }

  NodeId add(NodeId a, NodeId b) { return combined(call_, "aten::add", a, ref(b)); }
  NodeId times(NodeId a, NodeId b) { return combined(call_, "aten::mul", a, ref(b)); }
  NodeId opposite(NodeId a) {
    return call_.emit("aten::rsub.Scalar", {{"self", ref(a)}, {"other", 1.0}});
  }
  NodeId linear(NodeId x, NodeId weight, NodeId bias = ir::no_node) {
    std::vector<ir::Argument> args{{"input", ref(x)}, {"weight", ref(weight)}};
    if (bias != ir::no_node) args.push_back({"bias", ref(bias)});
    return call_.emit("aten::linear", std::move(args));
  }

  /// Some gates of a tensor that has all of them along a dimension.
  NodeId gate(NodeId all, std::int64_t first, std::int64_t count, std::int64_t dim) {
    return call_.emit("aten::slice.Tensor", {{"self", ref(all)},
                                             {"dim", dim},
                                             {"start", first * hidden_},
                                             {"end", (first + count) * hidden_},
                                             {"step", 1}});
  }

  /// The gates of an operand in this direction.
  NodeId part(std::size_t i, std::int64_t first, std::int64_t count) {
    const Array* known = call_.constant(i);
    if (!known)
      return gate(
          call_.emit("aten::select.int", {{"self", call_.ref(i)}, {"dim", 0}, {"index", number_}}),
          first, count, 0);
    const Array rows = known->rows(number_, 1);
    const Shape shape(rows.shape().begin() + 1, rows.shape().end());
    constexpr std::array<std::string_view, 8> names{
        "", "weight_ih", "weight_hh", "bias", "lengths", "hidden", "cell", "peepholes"};
    Operand operand{.constant =
                        Constant{rows.reshaped(shape).rows(first * hidden_, count * hidden_),
                                 call_.node().name + "." + std::string(names.at(i)),
                                 {},
                                 true}};
    return call_.importer().node_of(operand, "a matrix");
  }

  /// The function of a kind of gates: f, g, h in the order of ONNX.
  NodeId function(std::size_t kind, NodeId x) {
    static constexpr std::array<std::string_view, 3> of_lstm{"Sigmoid", "Tanh", "Tanh"};
    const bool rnn = call_.node().op == "RNN";
    const std::size_t count = static_cast<std::size_t>(rnn ? 1 : gates() - 1);
    std::string name(rnn ? "Tanh" : of_lstm.at(kind));
    if (const Attribute* given = call_.node().find("activations"))
      if (const auto* names = std::get_if<Attribute::Strings>(&given->value))
        name = names->at(static_cast<std::size_t>(number_) * count + kind);
    const auto* row = std::ranges::find(functions, name, [](const auto& one) { return one.first; });
    if (row == functions.end()) call_.refuse("its activation " + name + " has no counterpart");
    if (clip_ != 0 && kind < 2)  // the cell behind its gates has no limit in ONNX Runtime
      x = call_.emit("aten::clamp", {{"self", ref(x)}, {"min", -clip_}, {"max", clip_}});
    return applied(call_, row->second, x);
  }

  State rnn(NodeId input, const State& before) {
    const NodeId sum = add(input, linear(before.hidden, part_of_state(0, 1)));
    return {function(0, sum)};
  }

  NodeId part_of_state(std::int64_t first, std::int64_t count) {
    const auto known = parts_.find({first, count});
    if (known != parts_.end()) return known->second;
    return parts_.emplace(std::pair(first, count), part(2, first, count)).first->second;
  }

  State gru(NodeId input, const State& before) {
    const NodeId sums = add(gate(input, 0, 2, 1), linear(before.hidden, part_of_state(0, 2)));
    const NodeId update = function(0, gate(sums, 0, 1, 1));
    const NodeId reset = function(0, gate(sums, 1, 1, 1));
    NodeId product = ir::no_node;
    if (resets_product()) {
      const NodeId bias = call_.has(3) ? part(3, gates() + 2, 1) : ir::no_node;
      product = times(reset, linear(before.hidden, part_of_state(2, 1), bias));
    } else {
      product = linear(times(reset, before.hidden), part_of_state(2, 1));
    }
    const NodeId next = function(1, add(gate(input, 2, 1, 1), product));
    return {add(times(opposite(update), next), times(update, before.hidden))};
  }

  /// The sum of a gate with what its peephole sees of a cell.
  NodeId seen(NodeId sum, std::int64_t peephole, NodeId cell) {
    return call_.has(7) ? add(sum, times(cell, part(7, peephole, 1))) : sum;
  }

  State lstm(NodeId input, const State& before) {
    const NodeId sums = add(input, linear(before.hidden, part_of_state(0, 4)));
    const NodeId in = function(0, seen(gate(sums, 0, 1, 1), 0, before.cell));
    const NodeId forget = call_.integer("input_forget", 0) != 0
                              ? opposite(in)
                              : function(0, seen(gate(sums, 2, 1, 1), 2, before.cell));
    const NodeId next = function(1, gate(sums, 3, 1, 1));
    const NodeId cell = add(times(forget, before.cell), times(in, next));
    const NodeId out = function(0, seen(gate(sums, 1, 1, 1), 1, cell));
    return {times(out, function(2, cell)), cell};
  }

  Call& call_;
  std::int64_t number_, hidden_;
  double clip_;
  std::map<std::pair<std::int64_t, std::int64_t>, NodeId> parts_;
};

class Recurrence {
 public:
  explicit Recurrence(Call& call)
      : call_(call),
        rows_first_(call.integer("layout", 0) != 0),
        direction_(call.text("direction", "forward")),
        directions_(direction_ == "bidirectional" ? 2 : 1),
        hidden_(call.shape(2).back()),
        x_(rows_first_ ? swapped(call.tensor(0)) : call.tensor(0)),
        steps_(fixed_size(call, x_, 0)) {}

  void import() {
    std::vector<NodeId> outputs;
    std::vector<State> states;
    for (std::int64_t i = 0; i < directions_; ++i) {
      const auto [output, state] = run(i, direction_ == "reverse" || i == 1);
      outputs.push_back(output);
      states.push_back(state);
    }
    if (call_.wants(0)) {
      const NodeId all = stack(outputs, 1);  // [steps, directions, rows, features]
      call_.result(rows_first_ ? permuted(call_, all, {2, 0, 1, 3}) : all, 0);
    }
    give_state(states, &State::hidden, 1);
    give_state(states, &State::cell, 2);
  }

 private:
  NodeId swapped(NodeId node) {
    return call_.emit("aten::transpose.int", {{"self", ref(node)}, {"dim0", 0}, {"dim1", 1}});
  }
  NodeId select(NodeId node, std::int64_t dim, std::int64_t index) {
    return call_.emit("aten::select.int", {{"self", ref(node)}, {"dim", dim}, {"index", index}});
  }
  NodeId stack(const std::vector<NodeId>& nodes, std::int64_t dim) {
    std::vector<ir::Value> items;
    for (const NodeId one : nodes) items.push_back(ref(one));
    return call_.emit("aten::stack",
                      {{"tensors", ir::Value::list(std::move(items))}, {"dim", dim}});
  }

  NodeId start(std::size_t i, std::int64_t number) {
    if (call_.has(i)) return select(call_.tensor(i), rows_first_ ? 1 : 0, number);
    const NodeId row = select(x_, 0, 0);
    return call_.emit(
        "aten::new_zeros",
        {{"self", ref(row)}, {"size", ir::Value::list({call_.size(row, 0), hidden_})}});
  }

  /// Which sequences have a step of this number, [rows, 1]; no_node if all have it.
  NodeId has_step(std::int64_t step) {
    if (!call_.has(4)) return ir::no_node;
    const NodeId lengths = call_.emit("aten::unsqueeze", {{"self", call_.ref(4)}, {"dim", 1}});
    return call_.emit("aten::gt.Scalar", {{"self", ref(lengths)}, {"other", step}});
  }

  NodeId chosen(NodeId condition, NodeId yes, NodeId no) {
    if (condition == ir::no_node || yes == ir::no_node) return yes;
    return call_.emit("aten::where.self",
                      {{"condition", ref(condition)}, {"self", ref(yes)}, {"other", ref(no)}});
  }

  /// The outputs of all steps, and the last state. Behind its end a sequence keeps its state, and
  /// its outputs are zeros.
  std::pair<NodeId, State> run(std::int64_t number, bool backwards) {
    Direction direction(call_, number, hidden_);
    const NodeId inputs = direction.inputs(x_);
    State state{start(5, number)};
    if (call_.node().op == "LSTM") state.cell = start(6, number);
    std::vector<NodeId> outputs(static_cast<std::size_t>(steps_));
    for (std::int64_t i = 0; i < steps_; ++i) {
      const std::int64_t step = backwards ? steps_ - 1 - i : i;
      const State next = direction.step(select(inputs, 0, step), state);
      const NodeId present = has_step(step);
      NodeId& output = outputs[static_cast<std::size_t>(step)] = next.hidden;
      if (present != ir::no_node) output = times_mask(next.hidden, present);
      state = {chosen(present, next.hidden, state.hidden), chosen(present, next.cell, state.cell)};
    }
    return {stack(outputs, 0), state};
  }

  NodeId times_mask(NodeId node, NodeId mask) {
    return chosen(mask, node, applied(call_, "aten::zeros_like", node));
  }

  void give_state(const std::vector<State>& states, NodeId State::*which, std::size_t i) {
    if (!call_.wants(i)) return;
    std::vector<NodeId> nodes;
    for (const State& one : states) nodes.push_back(one.*which);
    call_.result(stack(nodes, rows_first_ ? 1 : 0), i);
  }

  Call& call_;
  bool rows_first_;
  std::string direction_;
  std::int64_t directions_, hidden_;
  NodeId x_;
  std::int64_t steps_;
};

}  // namespace

void write_recurrence(Call& call) {
  if (call.shape(2).empty()) call.wrong("its state has no matrix");
  Recurrence(call).import();
}

}  // namespace mase::onnx
