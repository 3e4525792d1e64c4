// SPDX-License-Identifier: Apache-2.0
// Takes einsums apart into products that have ports.
#pragma once

#include "passes/pass.hpp"

namespace mase::passes {

/// torch.einsum has no port for formats, since what its operands are depends on its equation. This
/// pass writes it with `permute`, `flatten`, `matmul` and `unflatten`. With letters of both
/// operands b, of the first alone l, of the second alone r, and c of both that are summed over:
///
///     "bhqd,bhkd->bhqk"   matmul(x, permute(y))                 b = bh, l = q, r = k, c = d
///     "btd,dhk->bthk"     unflatten(matmul(x, flatten(y)))      b = none, l = bt, r = hk, c = d
///     "bthk,hkd->btd"     matmul(flatten(x), flatten(y))        b = none, l = bt, r = d, c = hk
///
/// Without c it is a `mul` of what broadcasts; letters of one operand alone that the result has not
/// are summed first; of more than two operands the first two come first. The operand with the first
/// letter of the result, the batch, is the first one of a product. Other lengths and batches keep
/// working, results move by rounding only.
///
/// Error(Fault::unsupported) naming the equation: a letter twice in one operand, dimensions that
/// broadcast, shapes that are not known, and what torch refuses too. Nodes with formats are left
/// as they are. Idempotent.
struct ExpandEinsum {
  static constexpr PassDoc doc{"expand_einsum", PassKind::transform,
                               "Take einsums apart into products that can be quantized.", 1e-4};
  struct Options {
    static constexpr auto fields() { return std::tuple{}; }
  };
  static Result run(ir::Graph& graph, const Options& options, PassContext& context);
};

}  // namespace mase::passes
