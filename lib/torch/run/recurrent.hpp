// SPDX-License-Identifier: Apache-2.0
// Runs each recurrent layer or cell of torch.nn as one operator: with ATen's operators, or step by
// step if ports have formats.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace mase::libtorch {

/// A recurrent operator: a layer over a sequence, or a cell that computes one step.
struct RecurrentOp {
  enum class Kind { lstm, gru, rnn_tanh, rnn_relu };
  std::string_view name;         ///< "mase::lstm"
  std::string_view aten;         ///< the operator that torch.nn calls, as "aten::lstm.input"
  std::string_view aten_packed;  ///< that for packed sequences: "aten::lstm.data"; not for cells
  Kind kind = Kind::lstm;
  bool cell = false;  ///< a single step, without levels and directions

  /// The number of matrices that are stacked in one weight.
  std::int64_t gates() const { return kind == Kind::lstm ? 4 : kind == Kind::gru ? 3 : 1; }
  bool has_memory() const { return kind == Kind::lstm; }  ///< the state is (h, c), else h
};
/// The recurrent operator with this name, or with this ATen operator; nullptr if there is none.
const RecurrentOp* find_recurrent(std::string_view op);
const RecurrentOp* find_recurrent_of_aten(std::string_view aten);

/// The arguments that are tensors, in the order in which a plan lists them.
inline constexpr std::array<std::string_view, 8> recurrent_arguments{
    "input", "hx", "weight_ih", "weight_hh", "weight_hr", "bias_ih", "bias_hh", "batch_sizes"};

/// The constants of a layer. A cell does not use them.
struct RecurrentConstants {
  std::int64_t num_layers = 1;
  double dropout = 0;
  bool train = false, bidirectional = false, batch_first = false;
};

/// The arguments of a call. The tensors of all levels are in sequence, with both directions of a
/// level next to each other, in torch.nn's order.
struct RecurrentCall : RecurrentConstants {
  at::Tensor input;               ///< [steps, rows, features] (batch_first: rows first) or
                                  ///< [steps, features]; cell: [rows, features] or [features];
                                  ///< packed sequences: rows of all steps, [sum, features]
  at::Tensor batch_sizes;         ///< packed sequences: int64[steps], rows per step, non-increasing
  std::vector<at::Tensor> state;  ///< h, and for an LSTM c; empty for zeros
  std::vector<at::Tensor> weight_ih, weight_hh, weight_hr, bias_ih, bias_hh;

  bool is_packed() const { return batch_sizes.defined(); }
};

/// Computes exactly what torch.nn does: (output, h) or (output, (h, c)); for a cell h or (h, c).
c10::IValue run_recurrent(const RecurrentOp& op, const RecurrentCall& call);

/// Computes the hidden state that the next step reads from the one that the last step computed.
using PassState = std::function<at::Tensor(const at::Tensor& state)>;
/// The same, step by step. A step, the level above it and the projection of an LSTM read the state
/// that `pass` returns. The results are those of the steps, before `pass`. (docs/formats.md,
/// "Recurrent layers".)
c10::IValue run_steps(const RecurrentOp& op, const RecurrentCall& call, const PassState& pass);

}  // namespace mase::libtorch
