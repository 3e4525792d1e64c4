// SPDX-License-Identifier: Apache-2.0
// Rules of recurrent layers, cells and functions. The shapes are those of torch.nn's documentation.
#include "ir/inference/rules.hpp"

namespace mase::ir {
namespace {

/// Matrices of all gates of a cell are stacked in one weight.
std::int64_t stacked_gates(const Call& call) {
  if (call.op().find("lstm") != std::string_view::npos) return 4;
  return call.op().find("gru") != std::string_view::npos ? 3 : 1;
}

bool has_cell_state(const Call& call) { return stacked_gates(call) == 4; }

/// The features of h, and of an LSTM's c.
struct StateSizes {
  std::int64_t hidden = 0, cell = 0;
};

StateSizes state_sizes(const Call& call) {
  const std::vector<ValueInfo> weights = call.tensors("weight_hh");
  call.require(!weights.empty() && weights.front().shape.size() == 2, "it has no weight_hh");
  const Shape& weight = weights.front().shape;
  return {weight[1], weight[0] / stacked_gates(call)};
}

/// h, or h and c, with these dimensions before the features.
ValueInfo state_info(const Call& call, DType dtype, const Shape& before) {
  const StateSizes sizes = state_sizes(call);
  const ValueInfo hidden = ValueInfo::tensor(dtype, joined(before, {sizes.hidden}));
  if (!has_cell_state(call)) return hidden;
  return tuple_info({hidden, ValueInfo::tensor(dtype, joined(before, {sizes.cell}))});
}

Inferred one_step(const Call& call) {
  const ValueInfo input = call.tensor("input");
  call.require(input.shape.size() == 1 || input.shape.size() == 2, "it takes [N, features]");
  return state_info(call, input.dtype, part_of(input.shape, 0, input.shape.size() - 1));
}

/// The number of packed sequences; it counts as unknown if no initial state tells it.
Shape packed_rows(const Call& call) {
  const auto state = call.find("hx");
  if (state) {
    const ValueInfo& hidden = state->elements.empty() ? *state : state->elements.front();
    call.require(hidden.shape.size() == 3, "the state is not [levels, N, features]");
    return {hidden.shape[1]};
  }
  call.depends_on_values();
  return {1};
}

/// (output, h) or (output, (h, c)).
Inferred all_steps(const Call& call) {
  const ValueInfo input = call.tensor("input");
  const bool packed = call.has("batch_sizes"), batched = input.shape.size() == 3;
  call.require(packed ? input.shape.size() == 2 : batched || input.shape.size() == 2,
               "it takes [steps, N, features] or [steps, features]");
  const std::int64_t directions = call.truth("bidirectional", false) ? 2 : 1;
  Shape state{call.product(call.integer("num_layers", 1), directions)};
  if (packed) state = joined(state, packed_rows(call));
  if (batched) state.push_back(input.shape[call.truth("batch_first", false) ? 0 : 1]);
  ValueInfo output = input;
  output.shape.back() = call.product(state_sizes(call).hidden, directions);
  return tuple_info({output, state_info(call, input.dtype, state)});
}

/// The function of ATen: the output and the states as one tuple. `hx` tells their sizes.
Inferred sequence_results(const Call& call) {
  ValueInfo output = call.tensor(call.has("data") ? "data" : "input");
  const std::vector<ValueInfo> states = call.tensors("hx");
  call.require(!output.shape.empty() && !states.empty() && !states.front().shape.empty(),
               "it takes a sequence and a state");
  const std::int64_t directions = call.truth("bidirectional", false) ? 2 : 1;
  output.shape.back() = call.product(states.front().shape.back(), directions);
  std::vector<ValueInfo> results{output};
  results.insert(results.end(), states.begin(), states.end());
  return tuple_info(std::move(results));
}

/// A cell of ATen: the next state has the shape of the given one.
Inferred next_state(const Call& call) {
  std::vector<ValueInfo> state = call.tensors("hx");
  call.require(!state.empty(), "it takes a state");
  if (!has_cell_state(call)) return state.front();
  return tuple_info(std::move(state));
}

}  // namespace

std::vector<InferenceRule> sequence_rules() {
  return {
      {"aten::lstm_cell", next_state},         {"aten::gru_cell", next_state},
      {"aten::rnn_tanh_cell", next_state},     {"aten::rnn_relu_cell", next_state},
      {OpFamily::recurrent, sequence_results}, {OpFamily::recurrent_layer, all_steps},
      {OpFamily::recurrent_cell, one_step},
  };
}

}  // namespace mase::ir
