// SPDX-License-Identifier: Apache-2.0
// Recognises recurrent layers and cells of torch.nn by the operators that their forward runs, and
// makes them leaves.
#pragma once

#include <optional>

#include "torch/import/module.hpp"

namespace mase::libtorch {

/// A tensor of the given state, and the call that puts its rows into the order of packed
/// sequences.
struct GivenState {
  Ref cell;
  std::optional<OpCall> order;
};

/// A returned tensor: its place in the leaf's result (0 output, 1 h, 2 c), and the call that
/// restores the order that its rows had before packing.
struct ReturnedPart {
  std::size_t place = 0;
  std::optional<OpCall> order;
};

/// A recurrent leaf, and the part of its result that each returned tensor is.
struct RecurrentLeaf {
  LeafCall call;           ///< without arguments
  Ref input, batch_sizes;  ///< batch_sizes is null unless sequences are packed
  std::vector<GivenState> state;
  c10::IValue value;  ///< result on the example, as torch.nn returns it
  /// Whether the returned cell has the form of `value`. Traces return only the tensors that are
  /// used, and packed sequences are in a tuple with their sizes and orders.
  bool whole = true;
  std::vector<ReturnedPart> parts;  ///< one per tensor that the layer computed, in order
};

/// Whether a class is one of torch.nn's recurrent layers or cells.
bool is_recurrent(const std::string& class_name);

/// The leaf that computed `result` in the builder's open scope. The leaf is run on the example and
/// must give the same values. Returns nothing if the scope does more than torch.nn's layer.
std::optional<RecurrentLeaf> recurrent_leaf(const Ref& self, const Ref& result, Builder& builder);

/// Adds the leaf to the graph after the end of its scope. Returns the cell of its result.
Ref place_leaf(const RecurrentLeaf& found, Builder& builder);

/// A result that is not returned whole: reads its tensors from `leaf`, as Python unpacks a tuple.
Ref unpacked(const RecurrentLeaf& found, const Ref& result, const Ref& leaf, Builder& builder);

}  // namespace mase::libtorch
