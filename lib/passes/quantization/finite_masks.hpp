// SPDX-License-Identifier: Apache-2.0
// Turns finite numbers that hide elements from a softmax, which most checkpoints use, into masks.
#pragma once

#include "passes/pass.hpp"

namespace mase::passes {

/// Numbers at or below this bound, such as -10000 and -1e9, hide an element from a softmax whose
/// other inputs are not of their size: 32 times beyond where float32 has a share left.
inline constexpr double finite_mask_bound = -1000;
/// Numbers at or below this bound may hide elements, as -100 does in Swin Transformers. They do
/// when softmaxes give the same results without them.
inline constexpr double weak_mask_bound = -16;

/// Where softmaxes with a format read such constants, the format would take them for scores: a
/// block would lose all other elements, and integers would give a masked element a share. This
/// replaces them by the least float32, which formats keep (ir/masks.hpp). Weak ones are judged on
/// data; a note names those that stay numbers, also for lack of data. A detail says what was
/// replaced, and info["masks"] lists the nodes.
void write_masks(ir::Graph& graph, const PassContext& context, Result& result);

}  // namespace mase::passes
