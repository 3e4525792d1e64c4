// SPDX-License-Identifier: Apache-2.0
// Finite numbers that hide elements from a softmax, as most checkpoints have them, made masks.
#pragma once

#include "passes/pass.hpp"

namespace mase::passes {

/// Numbers from here on down hide an element from a softmax that reads nothing of their size
/// besides: -10000 and -1e9 do, 32 times beyond where float32 has a share left.
inline constexpr double finite_mask_bound = -1000;
/// Numbers from here on down may hide elements, as -100 does in Swin Transformers: they do where
/// softmaxes give the same without them.
inline constexpr double weak_mask_bound = -16;

/// Where softmaxes with a format read such constants, formats would take them for scores: blocks
/// lose all other elements, and integers give a masked element a share. Writes the least float32
/// in their place, which formats keep (ir/masks.hpp). Those that are weak are judged on data; what
/// stays a number, without data too, is a note. What was written is a detail, and the nodes are in
/// info["masks"].
void write_masks(ir::Graph& graph, const PassContext& context, Result& result);

}  // namespace mase::passes
