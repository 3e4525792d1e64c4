// SPDX-License-Identifier: Apache-2.0
// Rows of recurrent layers, which become layers of torch.nn. Their matrices are stacked in another
// order there.
#include <algorithm>
#include <cstring>

#include "onnx/import/importer.hpp"
#include "onnx/import/recurrence.hpp"
#include "onnx/import/rows.hpp"
#include "onnx/import/steps.hpp"

namespace mase::onnx {
namespace {

/// A layer: the places in ONNX of torch.nn's gates, and the functions that it has.
struct Recurrent {
  std::string_view name, class_name;
  std::vector<std::int64_t> gates;
  std::vector<std::string> functions;
};

/// The parts of a matrix or vector [gates * hidden, ...] in the order of `gates`.
Array in_order(const Array& direction, const std::vector<std::int64_t>& gates,
               std::int64_t hidden) {
  Array sorted = direction;
  const std::size_t size = direction.byte_size() / gates.size();
  for (std::size_t gate = 0; gate < gates.size(); ++gate)
    std::memcpy(sorted.mutable_bytes() + gate * size,
                direction.bytes() + static_cast<std::size_t>(gates[gate]) * size, size);
  Shape shape = direction.shape();
  shape[0] = static_cast<std::int64_t>(gates.size()) * hidden;
  return sorted.reshaped(shape);
}

class RecurrentCall {
 public:
  RecurrentCall(Call& call, Recurrent layer)
      : call_(call),
        layer_(std::move(layer)),
        direction_(call.text("direction", "forward")),
        rows_first_(call.integer("layout", 0) != 0) {}

  void import() {
    if (!is_module()) return write_recurrence(call_);
    check_shapes();
    module_.attributes = {{"num_layers", 1},
                          {"dropout", 0.0},
                          {"train", ir::TrainingFlag{}},
                          {"bidirectional", directions() == 2},
                          {"batch_first", rows_first_}};
    add_tensors();
    const bool backwards = direction_ == "reverse";
    ir::Node node;
    node.kind = ir::NodeKind::call_module;
    node.target = module_.path;
    node.op = module_.op;
    node.args = {{"input", ref(turned(call_.tensor(0), backwards))}};
    if (const ir::Value state = initial_state(); !state.is_none())
      node.args.push_back({"hx", state});
    call_.importer().graph().modules.emplace(module_.path, module_);
    give(call_.importer().add(std::move(node)), backwards);
  }

 private:
  std::int64_t directions() const { return direction_ == "bidirectional" ? 2 : 1; }
  bool has_memory() const { return layer_.gates.size() == 4; }

  /// [directions, gates * hidden, ...] each.
  void check_shapes() {
    const Shape input = call_.shape(1), state = call_.shape(2);
    if (state.empty()) call_.wrong("its state has no matrix");
    const std::int64_t rows = static_cast<std::int64_t>(layer_.gates.size()) * state.back();
    const bool matrices = input.size() == 3 && state.size() == 3 && input[0] == directions() &&
                          state[0] == directions() && input[1] == rows && state[1] == rows;
    if (!matrices || (call_.has(3) && call_.shape(3) != Shape{directions(), 2 * rows}))
      call_.wrong("its matrices and biases do not fit each other");
  }

  /// Whether torch.nn has such a layer.
  bool is_module() {
    const auto* functions = call_.node().find("activations");
    const auto* names = functions ? std::get_if<Attribute::Strings>(&functions->value) : nullptr;
    for (std::size_t i = 0; names && i < names->size(); ++i)
      if ((*names)[i] != layer_.functions[i % layer_.functions.size()]) return false;
    if (call_.has_attribute("clip") || call_.integer("input_forget", 0) != 0 || call_.has(7))
      return false;
    if (layer_.gates.size() == 3 && call_.integer("linear_before_reset", 0) == 0) return false;
    for (const std::size_t i : {1U, 2U, 3U})
      if (call_.has(i) && !call_.constant(i)) return false;
    return all_have_all_steps();
  }

  bool all_have_all_steps() {
    if (!call_.has(4)) return true;
    if (!call_.constant(4)) return false;
    const std::int64_t steps = fixed_size(call_, call_.tensor(0), rows_first_ ? 1 : 0);
    return std::ranges::all_of(call_.integers(4),
                               [&](std::int64_t length) { return length == steps; });
  }

  void add_tensors() {
    const Scope& scope = call_.scope();
    const auto& modules = call_.importer().graph().modules;
    std::string base = scope.path.empty() ? std::string(layer_.name) : scope.path;
    module_.path = base;
    for (int i = 1; modules.contains(module_.path); ++i)
      module_.path = base + "_" + std::to_string(i);
    module_.class_name = layer_.class_name;
    module_.op = "mase::" + std::string(layer_.name);
    const std::int64_t hidden = call_.shape(2).back();
    for (std::int64_t direction = 0; direction < directions(); ++direction) {
      const std::string ending = direction == 0 ? "_l0" : "_l0_reverse";
      add("weight_ih", ending, call_.constant(1)->rows(direction, 1), hidden);
      add("weight_hh", ending, call_.constant(2)->rows(direction, 1), hidden);
      if (!call_.has(3)) continue;
      const Array both =
          call_.constant(3)->rows(direction, 1).reshaped({2, call_.shape(3).back() / 2});
      add("bias_ih", ending, both.rows(0, 1), hidden);
      add("bias_hh", ending, both.rows(1, 1), hidden);
    }
  }

  void add(const std::string& argument, const std::string& ending, const Array& rows,
           std::int64_t hidden) {
    Shape shape(rows.shape().begin() + 1, rows.shape().end());
    Constant tensor{in_order(rows.reshaped(shape), layer_.gates, hidden), argument, {}, true};
    module_.tensors.emplace_back(
        argument, call_.importer().store(tensor, module_.path + "." + argument + ending));
  }

  /// [rows, directions, features] becomes [directions, rows, features], and the other way round.
  ir::NodeId state_order(ir::NodeId state) {
    return rows_first_
               ? call_.emit("aten::transpose.int", {{"self", ref(state)}, {"dim0", 0}, {"dim1", 1}})
               : state;
  }

  ir::Value initial_state() {
    if (!call_.has(5)) return {};
    const ir::Value hidden = ref(state_order(call_.tensor(5)));
    if (!has_memory()) return hidden;
    const ir::NodeId cell =
        call_.has(6) ? call_.tensor(6) : applied(call_, "aten::zeros_like", call_.tensor(5));
    return ir::Value::tuple({hidden, ref(state_order(cell))});
  }

  ir::NodeId turned(ir::NodeId node, bool backwards) {
    const std::int64_t time = rows_first_ ? 1 : 0;
    return backwards ? call_.emit("aten::flip", {{"self", ref(node)}, {"dims", list_of({time})}})
                     : node;
  }

  /// Features of both directions get a dimension of their own.
  ir::NodeId separated(ir::NodeId output) {
    const std::int64_t place = rows_first_ ? 2 : 1;
    if (directions() == 1)
      return call_.emit("aten::unsqueeze", {{"self", ref(output)}, {"dim", place}});
    const auto sizes = sizes_of(call_, output);
    const ir::NodeId parts =
        reshaped(call_, output, {sizes[0], sizes[1], ir::Value(2), ir::Value(-1)});
    return rows_first_ ? parts : permuted(call_, parts, {0, 2, 1, 3});
  }

  void give(ir::NodeId both, bool backwards) {
    if (call_.wants(0)) call_.result(separated(turned(item_of(call_, both, 0), backwards)));
    if (!call_.wants(1) && !call_.wants(2)) return;
    const ir::NodeId state = item_of(call_, both, 1);
    if (!has_memory()) return call_.result(state_order(state), 1);
    for (std::int64_t i = 0; i < 2; ++i)
      if (call_.wants(static_cast<std::size_t>(i + 1)))
        call_.result(state_order(item_of(call_, state, i)), static_cast<std::size_t>(i + 1));
  }

  Call& call_;
  Recurrent layer_;
  std::string direction_;
  bool rows_first_;
  ir::Module module_;
};

void lstm(Call& call) {
  RecurrentCall(call,
                {"lstm", "torch.nn.modules.rnn.LSTM", {0, 2, 3, 1}, {"Sigmoid", "Tanh", "Tanh"}})
      .import();
}

void gru(Call& call) {
  RecurrentCall(call, {"gru", "torch.nn.modules.rnn.GRU", {1, 0, 2}, {"Sigmoid", "Tanh"}}).import();
}

void rnn(Call& call) {
  const auto* functions = call.node().find("activations");
  const auto* names = functions ? std::get_if<Attribute::Strings>(&functions->value) : nullptr;
  const bool relu = names && !names->empty() && names->front() == "Relu";
  RecurrentCall(
      call,
      {relu ? "rnn_relu" : "rnn_tanh", "torch.nn.modules.rnn.RNN", {0}, {relu ? "Relu" : "Tanh"}})
      .import();
}

}  // namespace

std::vector<Row> recurrent_rows() {
  return {
      {"LSTM", 7, lstm},
      {"GRU", 7, gru},
      {"RNN", 7, rnn},
  };
}

}  // namespace mase::onnx
