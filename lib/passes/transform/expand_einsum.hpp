// SPDX-License-Identifier: Apache-2.0
// Takes einsums apart into products with ports.
#pragma once

#include "passes/pass.hpp"

namespace mase::passes {

/// torch.einsum has no ports for formats, since the roles of its operands depend on the equation.
/// This pass replaces it by `permute`, `flatten`, `matmul` and `unflatten`. Letters are of four
/// kinds: b of both operands, l of the first only, r of the second only, c of both and summed over:
///
///     "bhqd,bhkd->bhqk"   matmul(x, permute(y))                 b = bh, l = q, r = k, c = d
///     "btd,dhk->bthk"     unflatten(matmul(x, flatten(y)))      b = none, l = bt, r = hk, c = d
///     "bthk,hkd->btd"     matmul(flatten(x), flatten(y))        b = none, l = bt, r = d, c = hk
///
/// Without c it becomes a `mul` of operands that broadcast. Letters of one operand that the result
/// lacks are summed first; with more than two operands, the first two are joined first. The operand
/// with the first letter of the result, the batch, is the first one of a product. Other lengths and
/// batches keep working; results change by rounding only.
///
/// Error(Fault::unsupported) names an equation with a letter twice in one operand, with dimensions
/// that broadcast, with unknown shapes, or that torch refuses too. Nodes with formats do not
/// change. Idempotent.
struct ExpandEinsum {
  static constexpr PassDoc doc{"expand_einsum", PassKind::transform,
                               "Take einsums apart into products that can be quantized.", 1e-4};
  struct Options {
    static constexpr auto fields() { return std::tuple{}; }
  };
  static bool prepares(const ir::Graph&) { return true; }
  static Result run(ir::Graph& graph, const Options& options, PassContext& context);
};

}  // namespace mase::passes
