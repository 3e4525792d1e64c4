// SPDX-License-Identifier: Apache-2.0
// Results are counted for one sample: how many rows a graph was noted with.
#pragma once

#include "ir/graph.hpp"

namespace mase::passes {

/// The first dimension of the first tensor input: the batch that the noted shapes stand for; 1
/// where there is none.
std::int64_t noted_batch(const ir::Graph& graph);

/// Elements of a tensor per sample: numel / batch where the first dimension is a multiple of the
/// batch, else numel (a table that is computed once).
double elements_per_sample(const Shape& shape, std::int64_t batch);

}  // namespace mase::passes
