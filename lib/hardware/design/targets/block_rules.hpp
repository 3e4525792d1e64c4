// SPDX-License-Identifier: Apache-2.0
// From which size on modules keep their words in block memory. The rules hold for all targets,
// since they stand in the modules' files of hw_templates as well;
// tests/hw_templates/block_memory_test.cpp compares.
#pragma once

#include <cstdint>

namespace mase::design {

struct BlockRule {
  std::int64_t least_words, least_bits;
  bool holds(std::int64_t width, std::int64_t depth) const {
    return depth >= least_words && depth * width >= least_bits;
  }
};
constexpr BlockRule weights_in_block{8, 1024};  ///< mase_multiply_accumulate: weights and biases
constexpr BlockRule replay_in_block{65, 4096};  ///< mase_replay
constexpr BlockRule lookup_in_block{1, 8192};   ///< mase_lookup, mase_piecewise
constexpr BlockRule window_in_block{65, 2049};  ///< mase_window, mase_window_parallel
constexpr BlockRule queue_in_block{65, 2048};   ///< mase_fifo

}  // namespace mase::design
