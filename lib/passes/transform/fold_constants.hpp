// SPDX-License-Identifier: Apache-2.0
// Evaluates the nodes that do not depend on the inputs' values once, and stores the results.
#pragma once

#include "passes/pass.hpp"

namespace mase::passes {

/// Nodes of any op that compute the same whatever the inputs hold (positions, masks, tables looked
/// up with either, parts and norms of weights) become tensors: a get_attr replaces the last node of
/// such a part under its name, and the nodes before it are removed. Results in eval mode stay equal
/// bit for bit, for every batch.
///
/// - Input sizes other than the batch (dimension 0) are those of the trace where a part reads them;
///   a guard then refuses other sizes. A part that is not shown to be independent of the batch
///   stays. When a part has equal rows for every sample, as in embedding(expand(ids, [batch,
///   length])), one row is stored, and an `expand` (or `repeat`) after it makes the others.
/// - Stored tensors are buffers: a trained parameter in a folded part is no longer trained. With
///   `parameters` off, such parts stay.
/// - Nodes with formats, dropout and custom ops stay, and so does a result with an order in memory
///   that a stored tensor would not have (an expanded one), since products round by that order; the
///   nodes that it reads are folded. For an order that is a permutation, a permute restores it.
///
/// Info: the `folded` nodes, the trained `parameters` that went with them, and the number of nodes
/// before and after. Notes name nodes larger than `most_elements`, and nodes that would make all
/// stored tensors together larger than the tensors before and `most_elements`.
///
/// Error(Fault::config) when there is something to fold but no LibTorch. Idempotent.
struct FoldConstants {
  static constexpr PassDoc doc{"fold_constants", PassKind::transform,
                               "Store what does not depend on the inputs' values."};
  struct Options {
    bool parameters = true;
    std::int64_t most_elements = std::int64_t{1} << 24;
    static constexpr auto fields() {
      return std::tuple{
          Field{"parameters", &Options::parameters,
                "fold trained parameters too, which are then no longer trained"},
          Field{"most_elements", &Options::most_elements, "tensors with more elements stay nodes"}
              .at_least(1)};
    }
  };
  static bool prepares(const ir::Graph&) { return true; }
  static Result run(ir::Graph& graph, const Options& options, PassContext& context);
};

}  // namespace mase::passes
