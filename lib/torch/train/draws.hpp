// SPDX-License-Identifier: Apache-2.0
// The random draws of a training step. They are functions of seed and step, so that a resumed run
// draws the same numbers.
#pragma once

#include <cstdint>

#include "ir/graph.hpp"

namespace mase::train {

/// Whether the graph draws random numbers while training.
bool draws_numbers(const ir::Graph& graph);

/// Seeds LibTorch's generator for one step. Neighbouring seeds and steps give unrelated numbers.
void seed_step(std::int64_t seed, std::int64_t step);

}  // namespace mase::train
