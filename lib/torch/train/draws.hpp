// SPDX-License-Identifier: Apache-2.0
// The random draws of a training step. They are functions of seed and step, so that a resumed run
// draws the same numbers.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <vector>

#include "ir/graph.hpp"

namespace mase::train {

/// Whether the graph draws random numbers while training.
bool draws_numbers(const ir::Graph& graph);

/// The nodes whose draws do not belong to rows (row_draws.hpp). If there are none, the parts of a
/// batch take theirs of those of the whole batch.
std::vector<const ir::Node*> draws_without_rows(const ir::Graph& graph);

/// Seeds LibTorch's generator for one step of one of the processes that train together.
/// Neighbouring seeds, steps and ranks give unrelated numbers.
void seed_step(std::int64_t seed, std::int64_t step, int rank);

/// Seeds the generator of a device as that of the CPU has been.
void seed_device(c10::Device device);

}  // namespace mase::train
