// SPDX-License-Identifier: Apache-2.0
// Op rows of recurrent layers and cells, and of the functions over sequences.
#include "ir/op_rows.hpp"

namespace mase::ir {

using enum MaseType;

namespace {

/// A layer of torch.nn over sequences, or one step of it. One argument holds the tensors of all
/// levels and directions.
OpRow recurrent_layer(std::string_view name, OpFamily family, std::vector<CallRow> calls,
                      LayerRow module, std::string_view doc) {
  return {.name = name,
          .family = family,
          .type = module_related_func,
          .calls = std::move(calls),
          .modules = {module},
          .args = {{"input", "data_in"},
                   {.name = "hx", .port = "state", .general = "data_in", .inner = true},
                   {"weight_ih", "weight_ih", "weight"},
                   {"weight_hh", "weight_hh", "weight"},
                   {"bias_ih", "bias"},
                   {"bias_hh", "bias"},
                   {"num_layers", ""},
                   {"dropout", ""},
                   {"train", ""},
                   {"bidirectional", ""},
                   {"batch_first", ""},
                   {"batch_sizes", ""}},
          .quantizable = true,
          .doc = doc};
}

OpRow lstm_layer() {
  OpRow row = recurrent_layer("lstm", OpFamily::recurrent_layer, {shared("mase::lstm")},
                              layer("torch.nn.modules.rnn.LSTM"), "Long short-term memory.");
  row.args.push_back({"weight_hr", "weight_hr", "weight"});
  return row;
}

/// A function over whole sequences; `params` lists the weights and biases of all its levels.
OpRow sequence_function(std::string_view name, CallRow call, std::string_view doc) {
  return {.name = name,
          .family = OpFamily::recurrent,
          .type = module_related_func,
          .calls = {std::move(call)},
          .args = {{"input", "data_in"},
                   {"data", "data_in"},
                   {"batch_sizes", ""},
                   {"hx", ""},
                   {"params", "weight"},
                   {"has_biases", ""},
                   {"num_layers", ""},
                   {"dropout", ""},
                   {"train", ""},
                   {"bidirectional", ""},
                   {"batch_first", ""}},
          .doc = doc};
}

}  // namespace

std::vector<OpRow> recurrent_rows() {
  return {
      lstm_layer(),
      recurrent_layer("gru", OpFamily::recurrent_layer, {shared("mase::gru")},
                      layer("torch.nn.modules.rnn.GRU"), "Gated recurrent units."),
      recurrent_layer("rnn", OpFamily::recurrent_layer,
                      {shared("mase::rnn_tanh"), shared("mase::rnn_relu")},
                      layer("torch.nn.modules.rnn.RNN"), "A recurrent layer with tanh or relu."),
      recurrent_layer("lstm_cell", OpFamily::recurrent_cell, {shared("mase::lstm_cell")},
                      layer("torch.nn.modules.rnn.LSTMCell"), "One step of an LSTM."),
      recurrent_layer("gru_cell", OpFamily::recurrent_cell, {shared("mase::gru_cell")},
                      layer("torch.nn.modules.rnn.GRUCell"), "One step of a GRU."),
      recurrent_layer("rnn_cell", OpFamily::recurrent_cell,
                      {shared("mase::rnn_tanh_cell"), shared("mase::rnn_relu_cell")},
                      layer("torch.nn.modules.rnn.RNNCell"),
                      "One step of a recurrent layer with tanh or relu."),
      sequence_function("lstm_function", function("aten::lstm", "torch.lstm"),
                        "An LSTM called as a function."),
      sequence_function("gru_function", function("aten::gru", "torch.gru"),
                        "A GRU called as a function."),
      sequence_function("rnn_tanh", function("aten::rnn_tanh", "torch.rnn_tanh"),
                        "A recurrent layer with tanh, called as a function."),
      sequence_function("rnn_relu", function("aten::rnn_relu", "torch.rnn_relu"),
                        "A recurrent layer with relu, called as a function."),
  };
}

}  // namespace mase::ir
