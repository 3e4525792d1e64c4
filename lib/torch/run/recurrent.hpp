// SPDX-License-Identifier: Apache-2.0
// Recurrent layers and cells of torch.nn as one operator each: by ATen's own operators, and step by
// step where ports have formats.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace mase::libtorch {

/// One recurrent operator: a layer over a sequence or one step of it.
struct RecurrentOp {
  enum class Kind { lstm, gru, rnn_tanh, rnn_relu };
  std::string_view name;         ///< "mase::lstm"
  std::string_view aten;         ///< the operator that torch.nn calls: "aten::lstm.input"
  std::string_view aten_packed;  ///< the one for packed sequences: "aten::lstm.data"; no cell's
  Kind kind = Kind::lstm;
  bool cell = false;  ///< one step, without levels and directions

  /// Matrices that stand below each other in one weight.
  std::int64_t gates() const { return kind == Kind::lstm ? 4 : kind == Kind::gru ? 3 : 1; }
  bool has_memory() const { return kind == Kind::lstm; }  ///< the state is (h, c), else h
};
/// The operator of this name, or of one of its ATen operators; nullptr when it is none.
const RecurrentOp* find_recurrent(std::string_view op);
const RecurrentOp* find_recurrent_of_aten(std::string_view aten);

/// The arguments that are tensors, in the order in which a plan lists them.
inline constexpr std::array<std::string_view, 8> recurrent_arguments{
    "input", "hx", "weight_ih", "weight_hh", "weight_hr", "bias_ih", "bias_hh", "batch_sizes"};

/// What is constant of a layer; a cell has none of it.
struct RecurrentConstants {
  std::int64_t num_layers = 1;
  double dropout = 0;
  bool train = false, bidirectional = false, batch_first = false;
};

/// Arguments of a call. Tensors of all levels stand one after the other, both directions of a level
/// side by side, as torch.nn numbers them.
struct RecurrentCall : RecurrentConstants {
  at::Tensor input;               ///< [steps, rows, features], rows first with batch_first, or
                                  ///< [steps, features]; of a cell [rows, features] or [features];
                                  ///< of packed sequences the rows of all steps, [sum, features]
  at::Tensor batch_sizes;         ///< of packed sequences: int64[steps], rows of each, never more
  std::vector<at::Tensor> state;  ///< h, and c of an LSTM; empty: zeros
  std::vector<at::Tensor> weight_ih, weight_hh, weight_hr, bias_ih, bias_hh;

  bool is_packed() const { return batch_sizes.defined(); }
};

/// What torch.nn computes, with its bits: (output, h) or (output, (h, c)); of a cell h or (h, c).
c10::IValue run_recurrent(const RecurrentOp& op, const RecurrentCall& call);

/// Gives the hidden state that the next step reads, from what the last one computed.
using PassState = std::function<at::Tensor(const at::Tensor& state)>;
/// The same step by step: a step reads the state that `pass` returns, and so do the level above and
/// the projection of an LSTM. Results are what the steps computed, before `pass`. (docs/formats.md,
/// "Recurrent layers".)
c10::IValue run_steps(const RecurrentOp& op, const RecurrentCall& call, const PassState& pass);

}  // namespace mase::libtorch
