// SPDX-License-Identifier: Apache-2.0
// Evaluates what does not depend on the inputs' values once, and stores it.
#pragma once

#include "passes/pass.hpp"

namespace mase::passes {

/// Nodes that compute the same whatever the inputs hold (positions, masks, tables that are looked
/// up with either, parts and norms of weights), whichever ops they are, become tensors: the last
/// node of such a part is a get_attr of its name, and what it was made from goes. Results in eval
/// mode stay equal bit for bit, for every batch.
///
/// - Sizes of inputs other than the batch (dimension 0) are taken as traced where a part reads
///   them; a guard refuses others afterwards. What is not shown to be independent of the batch
///   stays. Of a part that has equal rows for each sample, as in embedding(expand(ids, [batch,
///   length])), one row is stored, and an `expand` (or `repeat`) behind it makes the others.
/// - Stored tensors are buffers: a trained parameter in a part that is folded is trained no longer.
///   With `parameters` off such parts stay.
/// - Nodes with formats, dropout and ops of the user's stay, as do results whose order in memory
///   a stored tensor would not have (an expanded one), since products round by it: what these read
///   is folded. Where that order is a permutation, a permute of the stored tensor gives it.
///
/// Info: the `folded` nodes, the trained `parameters` that are gone with them, and nodes before and
/// after. Nodes that are larger than `most_elements` are noted, and those with which all that is
/// stored would be larger than the tensors before and `most_elements`.
///
/// Error(Fault::config) where there is something to fold but no LibTorch. Idempotent.
struct FoldConstants {
  static constexpr PassDoc doc{"fold_constants", PassKind::transform,
                               "Store what does not depend on the inputs' values."};
  struct Options {
    bool parameters = true;
    std::int64_t most_elements = std::int64_t{1} << 24;
    static constexpr auto fields() {
      return std::tuple{
          Field{"parameters", &Options::parameters,
                "fold trained parameters too; they are trained no longer"},
          Field{"most_elements", &Options::most_elements, "tensors with more elements stay nodes"}
              .at_least(1)};
    }
  };
  static Result run(ir::Graph& graph, const Options& options, PassContext& context);
};

}  // namespace mase::passes
