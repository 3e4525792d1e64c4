// SPDX-License-Identifier: Apache-2.0
// Recurrent layers and cells of torch.nn as leaves: found among the operators that their forward
// runs.
#pragma once

#include <optional>

#include "torch/import/module.hpp"

namespace mase::libtorch {

/// A tensor of a state that is given, and the call that puts its rows in the order of packed
/// sequences.
struct GivenState {
  Ref cell;
  std::optional<OpCall> order;
};

/// A returned tensor: its place in the leaf's result (0 output, 1 h, 2 c), and the call that puts
/// its rows back in the order before they were packed.
struct ReturnedPart {
  std::size_t place = 0;
  std::optional<OpCall> order;
};

/// A recurrent leaf, and which part of its result every returned tensor is.
struct RecurrentLeaf {
  LeafCall call;           ///< without arguments
  Ref input, batch_sizes;  ///< the sizes of packed sequences, else null
  std::vector<GivenState> state;
  c10::IValue value;  ///< on the example, as torch.nn's Python returns it
  /// The returned cell has the form of `value`; traces return the tensors that are used, and packed
  /// sequences stand in a tuple with their sizes and orders.
  bool whole = true;
  std::vector<ReturnedPart> parts;  ///< of the tensors that the layer computed, in order
};

/// Whether a class is one of torch.nn's recurrent layers or cells.
bool is_recurrent(const std::string& class_name);

/// The leaf that has computed `result` in the builder's open scope. Nothing where the scope does
/// more than torch.nn's layer: what is found is run on the example and must give the same values.
std::optional<RecurrentLeaf> recurrent_leaf(const Ref& self, const Ref& result, Builder& builder);

/// Adds the leaf to the graph after the end of its scope; the cell is its result.
Ref place_leaf(const RecurrentLeaf& found, Builder& builder);

/// A result that is not returned whole, its tensors read out of `leaf` as Python unpacks it.
Ref unpacked(const RecurrentLeaf& found, const Ref& result, const Ref& leaf, Builder& builder);

}  // namespace mase::libtorch
