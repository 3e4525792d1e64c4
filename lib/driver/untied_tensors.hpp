// SPDX-License-Identifier: Apache-2.0
// Tied tensors that cannot stay tied: a language model's last layer may read the embedding's weight
// through another format than the embedding does.
#pragma once

#include "huggingface/origin.hpp"
#include "ir/graph.hpp"

namespace mase::driver {

/// If layers read a tied tensor under other names and through other formats than its other readers,
/// gives each a tensor of its own, which the origin then has in its files, and lets config.json say
/// that nothing is tied (`tie_word_embeddings`). Both programs then compute what the graph
/// computes. Whether it changed them.
bool untie(ir::Graph& graph, huggingface::Origin& origin);

/// Whether config.json says that the model's files have tied tensors under each of their names.
bool is_untied(const huggingface::Origin& origin);

}  // namespace mase::driver
