// SPDX-License-Identifier: Apache-2.0
// Recurrent layers step by step, for those that torch.nn does not have: a reset before the product,
// peepholes, other functions, limits, computed weights, sequences of different lengths.
#pragma once

#include "onnx/import/call.hpp"

namespace mase::onnx {

/// Writes a call of LSTM, GRU or RNN as the nodes of all of its steps.
void write_recurrence(Call& call);

}  // namespace mase::onnx
