// SPDX-License-Identifier: Apache-2.0
// Recurrent layers and cells of the graph, and the operators of ATen that compute them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace mase::pt2 {

struct RecurrentRow {
  std::string_view aten, op;
  bool cell = false;   ///< one step, without levels and directions
  bool two = false;    ///< the state is (h, c), else h
  std::int64_t gates;  ///< matrices that are stacked in one weight
};
inline constexpr RecurrentRow recurrent_rows[] = {
    {"aten::lstm.input", "mase::lstm", false, true, 4},
    {"aten::gru.input", "mase::gru", false, false, 3},
    {"aten::rnn_tanh.input", "mase::rnn_tanh", false, false, 1},
    {"aten::rnn_relu.input", "mase::rnn_relu", false, false, 1},
    {"aten::lstm_cell", "mase::lstm_cell", true, true, 4},
    {"aten::gru_cell", "mase::gru_cell", true, false, 3},
    {"aten::rnn_tanh_cell", "mase::rnn_tanh_cell", true, false, 1},
    {"aten::rnn_relu_cell", "mase::rnn_relu_cell", true, false, 1},
};

/// The row whose `key` has this name; nullptr if there is none.
inline const RecurrentRow* recurrent_row(std::string_view RecurrentRow::*key,
                                         std::string_view name) {
  const auto* row = std::ranges::find(recurrent_rows, name, key);
  return row == std::end(recurrent_rows) ? nullptr : row;
}

}  // namespace mase::pt2
