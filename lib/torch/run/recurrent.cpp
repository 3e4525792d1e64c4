// SPDX-License-Identifier: Apache-2.0
// Runs recurrent operators as one call of ATen, or in a loop over levels, directions and steps.
#include "torch/run/recurrent.hpp"

#include <ATen/ATen.h>

#include <algorithm>

#include "base/error.hpp"
#include "torch/run/batch_parts.hpp"
#include "torch/run/dropout.hpp"
#include "torch/run/operators.hpp"
#include "torch/run/recurrent_checks.hpp"

namespace mase::libtorch {
namespace {

using TensorRow = std::vector<at::Tensor>;

constexpr RecurrentOp layer_row(std::string_view name, std::string_view aten,
                                std::string_view aten_packed, RecurrentOp::Kind kind) {
  return {name, aten, aten_packed, kind, false};
}
constexpr RecurrentOp cell_row(std::string_view name, std::string_view aten,
                               RecurrentOp::Kind kind) {
  return {name, aten, "", kind, true};
}

constexpr std::array recurrent_rows{
    layer_row("mase::lstm", "aten::lstm.input", "aten::lstm.data", RecurrentOp::Kind::lstm),
    layer_row("mase::gru", "aten::gru.input", "aten::gru.data", RecurrentOp::Kind::gru),
    layer_row("mase::rnn_tanh", "aten::rnn_tanh.input", "aten::rnn_tanh.data",
              RecurrentOp::Kind::rnn_tanh),
    layer_row("mase::rnn_relu", "aten::rnn_relu.input", "aten::rnn_relu.data",
              RecurrentOp::Kind::rnn_relu),
    cell_row("mase::lstm_cell", "aten::lstm_cell", RecurrentOp::Kind::lstm),
    cell_row("mase::gru_cell", "aten::gru_cell", RecurrentOp::Kind::gru),
    cell_row("mase::rnn_tanh_cell", "aten::rnn_tanh_cell", RecurrentOp::Kind::rnn_tanh),
    cell_row("mase::rnn_relu_cell", "aten::rnn_relu_cell", RecurrentOp::Kind::rnn_relu),
};

const RecurrentOp* find_recurrent_by(std::string_view RecurrentOp::*key, std::string_view name) {
  const auto found = std::ranges::find(recurrent_rows, name, key);
  return found == recurrent_rows.end() ? nullptr : &*found;
}

at::Tensor tensor_at(const TensorRow& tensors, std::size_t i) {
  return i < tensors.size() ? tensors[i] : at::Tensor();
}

bool rows_first(const RecurrentCall& call) { return call.batch_first && !call.is_packed(); }

bool is_batched(const RecurrentOp& op, const RecurrentCall& call) {
  return call.is_packed() || call.input.dim() == (op.cell ? 2 : 3);
}

/// The input of a level as [steps, rows, features]; packed sequences are unchanged.
at::Tensor input_by_steps(const RecurrentOp& op, const RecurrentCall& call) {
  if (call.is_packed()) return call.input;
  if (op.cell) return (call.input.dim() == 1 ? call.input.unsqueeze(0) : call.input).unsqueeze(0);
  if (call.input.dim() == 2) return call.input.unsqueeze(1);
  return call.batch_first ? call.input.transpose(0, 1).contiguous() : call.input;
}

/// The number of rows of packed sequences at each step; empty for other inputs.
std::vector<std::int64_t> rows_by_step(const RecurrentCall& call) {
  if (!call.is_packed()) return {};
  const at::Tensor sizes = call.batch_sizes.contiguous();
  const auto* first = sizes.const_data_ptr<std::int64_t>();
  return {first, first + sizes.numel()};
}

at::Tensor first_rows(const at::Tensor& tensor, std::int64_t count) {
  return tensor.size(0) == count ? tensor : tensor.narrow(0, 0, count);
}

/// `rows` of a step, followed by the other rows of `tensor`, whose sequences are not running.
at::Tensor with_first_rows(const at::Tensor& tensor, const at::Tensor& rows) {
  const std::int64_t other = tensor.size(0) - rows.size(0);
  return other == 0 ? rows : at::cat({rows, tensor.narrow(0, rows.size(0), other)});
}

/// The given states, or zeros, [levels and directions, rows, features]: h, and c (a copy of h that
/// is not read if there is none).
TensorRow state_of_call(const RecurrentOp& op, const RecurrentCall& call, std::int64_t rows) {
  TensorRow state = call.state;
  for (at::Tensor& tensor : state) {
    if (!is_batched(op, call)) tensor = tensor.unsqueeze(op.cell ? 0 : 1);
    if (op.cell) tensor = tensor.unsqueeze(0);
  }
  const auto count = static_cast<std::int64_t>(call.weight_hh.size());
  const auto zeros = [&](std::int64_t features) {
    return at::zeros({count, rows, features}, call.input.options());
  };
  if (state.empty()) state.push_back(zeros(call.weight_hh[0].size(1)));
  if (state.size() < 2)
    state.push_back(op.has_memory() ? zeros(call.weight_hh[0].size(0) / op.gates()) : state[0]);
  return state;
}

/// The dimension of the rows of values that are ordered by steps.
constexpr std::size_t step_rows = 1;

struct HiddenState {
  at::Tensor h, c;
};

/// Computes a step from the products of the input, [rows, gates * features], and of the state.
HiddenState next_state(RecurrentOp::Kind kind, const at::Tensor& x, const at::Tensor& y,
                       const HiddenState& before) {
  if (kind == RecurrentOp::Kind::lstm) {
    const TensorRow gates = (x + y).chunk(4, 1);
    const at::Tensor c = gates[1].sigmoid() * before.c + gates[0].sigmoid() * gates[2].tanh();
    return {gates[3].sigmoid() * c.tanh(), c};
  }
  if (kind == RecurrentOp::Kind::gru) {
    const TensorRow a = x.chunk(3, 1), b = y.chunk(3, 1);
    const at::Tensor reset = (a[0] + b[0]).sigmoid(), keep = (a[1] + b[1]).sigmoid();
    const at::Tensor fresh = (a[2] + reset * b[2]).tanh();
    return {fresh + keep * (before.h - fresh), before.c};
  }
  const at::Tensor sum = x + y;
  return {kind == RecurrentOp::Kind::rnn_relu ? sum.relu() : sum.tanh(), before.c};
}

/// The result of a direction of a level: all steps, as computed and as passed on; the last state.
struct DirectionRun {
  at::Tensor computed, passed;
  HiddenState last;
};

class StepLoop {
 public:
  StepLoop(const RecurrentOp& op, const RecurrentCall& call, const PassState& pass)
      : op_(op), call_(call), pass_(pass), rows_(rows_by_step(call)) {}

  c10::IValue run() {
    at::Tensor x = input_by_steps(op_, call_);
    if (x.size(0) == 0) file_error("the sequence has no steps");
    const TensorRow initial = state_of_call(op_, call_, rows_.empty() ? x.size(1) : rows_[0]);
    const std::size_t directions = call_.bidirectional ? 2 : 1;
    for (std::int64_t level = 0; level < call_.num_layers; ++level) {
      TensorRow computed, passed;
      for (std::size_t direction = 0; direction < directions; ++direction) {
        const std::size_t place = static_cast<std::size_t>(level) * directions + direction;
        const auto index = static_cast<std::int64_t>(place);
        const DirectionRun one = run_direction(
            x, place, direction == 1, {initial[0].select(0, index), initial[1].select(0, index)});
        computed.push_back(one.computed);
        passed.push_back(one.passed);
        h_.push_back(one.last.h);
        c_.push_back(one.last.c);
      }
      output_ = at::cat(computed, -1);
      x = at::cat(passed, -1);
      if (call_.train && call_.dropout > 0 && level + 1 < call_.num_layers)
        x = rows_.empty() ? dropped_out(x, call_.dropout, step_rows)
                          : at::dropout(x, call_.dropout, true);
    }
    return results();
  }

 private:
  TensorRow split_steps(const at::Tensor& x) const {
    return rows_.empty() ? x.unbind(0) : x.split_with_sizes(rows_, 0);
  }
  at::Tensor join_steps(const TensorRow& steps) const {
    return rows_.empty() ? at::stack(steps) : at::cat(steps);
  }

  DirectionRun run_direction(const at::Tensor& x, std::size_t place, bool reverse,
                             HiddenState hidden) const {
    const TensorRow products =
        split_steps(at::linear(x, call_.weight_ih[place], tensor_at(call_.bias_ih, place)));
    const at::Tensor projection = tensor_at(call_.weight_hr, place);
    TensorRow computed(products.size()), passed(products.size());
    at::Tensor state = pass_(hidden.h);
    for (std::size_t i = 0; i < products.size(); ++i) {
      const std::size_t step = reverse ? products.size() - 1 - i : i;
      const std::int64_t rows = products[step].size(0);
      const HiddenState before{first_rows(state, rows), first_rows(hidden.c, rows)};
      const at::Tensor y =
          at::linear(before.h, call_.weight_hh[place], tensor_at(call_.bias_hh, place));
      HiddenState next = next_state(op_.kind, products[step], y, before);
      if (projection.defined()) next.h = at::linear(pass_(next.h), projection);
      computed[step] = next.h;
      passed[step] = pass_(next.h);
      hidden = {with_first_rows(hidden.h, next.h), with_first_rows(hidden.c, next.c)};
      state = with_first_rows(state, passed[step]);
    }
    return {join_steps(computed), join_steps(passed), hidden};
  }

  c10::IValue results() const {
    const bool rows = is_batched(op_, call_);
    TensorRow state{at::stack(h_)};
    if (op_.has_memory()) state.push_back(at::stack(c_));
    for (at::Tensor& tensor : state) {
      if (op_.cell) tensor = tensor.select(0, 0);
      if (!rows) tensor = tensor.squeeze(op_.cell ? 0 : 1);
    }
    const c10::IValue last =
        state.size() == 1 ? c10::IValue(state[0]) : c10::ivalue::Tuple::create(state[0], state[1]);
    if (op_.cell) return last;
    at::Tensor output = output_;
    if (!rows)
      output = output.squeeze(1);
    else if (rows_first(call_))
      output = output.transpose(0, 1);
    return c10::ivalue::Tuple::create(c10::IValue(output), last);
  }

  const RecurrentOp& op_;
  const RecurrentCall& call_;
  const PassState& pass_;
  std::vector<std::int64_t> rows_;  ///< for packed sequences, at each step
  TensorRow h_, c_;
  at::Tensor output_;
};

/// weight_ih, weight_hh, bias_ih, bias_hh and weight_hr for each level and direction in turn.
TensorRow params_of(const RecurrentCall& call) {
  TensorRow flat;
  for (std::size_t i = 0; i < call.weight_ih.size(); ++i)
    for (const TensorRow* tensors :
         {&call.weight_ih, &call.weight_hh, &call.bias_ih, &call.bias_hh, &call.weight_hr})
      if (i < tensors->size()) flat.push_back((*tensors)[i]);
  return flat;
}

/// The index of the axis of rows.
std::int64_t place_of_rows(const RecurrentOp& op, const RecurrentCall& call) {
  return op.cell || call.is_packed() || call.batch_first ? 0 : 1;
}

/// A call of ATen's operator with valid arguments.
struct AtenCall {
  std::string_view op;
  std::vector<c10::IValue> arguments;
};

AtenCall aten_call(const RecurrentOp& op, const RecurrentCall& call) {
  if (call.is_packed())
    if (const std::string unmet = batch_sizes_demand(call.input, call.batch_sizes); !unmet.empty())
      file_error(std::string(op.name) + " " + unmet);
  const std::int64_t place = place_of_rows(op, call);
  const at::Tensor input = is_batched(op, call) ? call.input : call.input.unsqueeze(place);
  TensorRow state =
      state_of_call(op, call, call.is_packed() ? rows_by_step(call)[0] : input.size(place));
  if (op.cell)
    for (at::Tensor& tensor : state) tensor = tensor.select(0, 0);
  const c10::IValue hx = op.has_memory() ? c10::IValue(state) : c10::IValue(state[0]);
  const auto bias = [](const TensorRow& given) {
    return given.empty() ? c10::IValue() : c10::IValue(given[0]);
  };
  AtenCall aten{call.is_packed() ? op.aten_packed : op.aten, {input}};
  const auto add = [&](auto... values) { (aten.arguments.emplace_back(std::move(values)), ...); };
  if (op.cell) {
    add(hx, call.weight_ih[0], call.weight_hh[0], bias(call.bias_ih), bias(call.bias_hh));
  } else {
    if (call.is_packed()) add(call.batch_sizes);
    add(hx, params_of(call), !call.bias_ih.empty(), call.num_layers, call.dropout, call.train,
        call.bidirectional);
    if (!call.is_packed()) add(call.batch_first);
  }
  if (const std::string unmet = sequence_demand(aten.op, aten.arguments); !unmet.empty())
    file_error(std::string(op.name) + " " + unmet);
  return aten;
}

}  // namespace

const RecurrentOp* find_recurrent(std::string_view op) {
  return find_recurrent_by(&RecurrentOp::name, op);
}
const RecurrentOp* find_recurrent_of_aten(std::string_view aten) {
  const RecurrentOp* padded = find_recurrent_by(&RecurrentOp::aten, aten);
  return padded || aten.empty() ? padded : find_recurrent_by(&RecurrentOp::aten_packed, aten);
}

bool draws_by_row(const RecurrentOp& op, const RecurrentCall& call) {
  return batch_parts_in_use() && call.train && call.dropout > 0 && call.num_layers > 1 &&
         !op.cell && !call.is_packed() && is_batched(op, call);
}

/// Runs a layer level by level, with the draws of the rows between them.
c10::IValue run_levels(const RecurrentOp& op, const RecurrentCall& call) {
  const std::int64_t directions = call.bidirectional ? 2 : 1;
  RecurrentCall level = call;
  level.num_layers = 1;
  level.batch_first = false;
  level.input = input_by_steps(op, call);
  TensorRow h, c;
  for (std::int64_t first = 0; first < call.num_layers * directions; first += directions) {
    for (const auto member :
         {&RecurrentCall::weight_ih, &RecurrentCall::weight_hh, &RecurrentCall::weight_hr,
          &RecurrentCall::bias_ih, &RecurrentCall::bias_hh})
      if (const TensorRow& all = call.*member; !all.empty())
        (level.*member).assign(all.begin() + first, all.begin() + first + directions);
    for (std::size_t i = 0; i < call.state.size(); ++i)
      level.state[i] = call.state[i].narrow(0, first, directions);
    if (first > 0) level.input = dropped_out(level.input, call.dropout, step_rows);
    const c10::IValue result = run_recurrent(op, level);
    level.input = result.toTupleRef().elements()[0].toTensor();
    const c10::IValue& last = result.toTupleRef().elements()[1];
    h.push_back(op.has_memory() ? last.toTupleRef().elements()[0].toTensor() : last.toTensor());
    if (op.has_memory()) c.push_back(last.toTupleRef().elements()[1].toTensor());
  }
  const at::Tensor output = rows_first(call) ? level.input.transpose(0, 1) : level.input;
  const c10::IValue last = op.has_memory()
                               ? c10::IValue(c10::ivalue::Tuple::create(at::cat(h), at::cat(c)))
                               : c10::IValue(at::cat(h));
  return c10::ivalue::Tuple::create(c10::IValue(output), last);
}

c10::IValue run_recurrent(const RecurrentOp& op, const RecurrentCall& call) {
  if (draws_by_row(op, call)) {
    aten_call(op, call);  // refuses what does not fit
    return run_levels(op, call);
  }
  auto [name, stack] = aten_call(op, call);
  find_operator(name)->callBoxed(&stack);
  if (!is_batched(op, call))
    for (std::size_t i = 0; i < stack.size(); ++i)
      stack[i] = stack[i].toTensor().squeeze(op.cell ? 0 : i == 0 ? place_of_rows(op, call) : 1);
  const auto pair = [](const c10::IValue& a, const c10::IValue& b) {
    return c10::IValue(c10::ivalue::Tuple::create(a, b));
  };
  if (stack.size() == 1) return stack[0];
  return stack.size() == 2 ? pair(stack[0], stack[1]) : pair(stack[0], pair(stack[1], stack[2]));
}

c10::IValue run_steps(const RecurrentOp& op, const RecurrentCall& call, const PassState& pass) {
  aten_call(op, call);
  return StepLoop(op, call, pass).run();
}

}  // namespace mase::libtorch
