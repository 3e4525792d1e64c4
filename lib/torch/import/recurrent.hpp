// SPDX-License-Identifier: Apache-2.0
// Recurrent layers and cells of torch.nn as leaves: found among the operators that their forward
// runs.
#pragma once

#include <optional>

#include "torch/import/module.hpp"

namespace mase::libtorch {

/// A recurrent leaf, and which part of its result every returned tensor is.
struct RecurrentLeaf {
  LeafCall call;
  c10::IValue value;  ///< on the example, as torch.nn's Python returns it
  /// The returned cell has the form of `value`; traces return the tensors that are used.
  bool whole = true;
  std::vector<std::size_t> parts;  ///< of a trace, per returned tensor: 0 output, 1 h, 2 c
};

/// Whether a class is one of torch.nn's recurrent layers or cells.
bool is_recurrent(const std::string& class_name);

/// The leaf that has computed `result` in the builder's open scope. Nothing where the scope does
/// more than torch.nn's layer: what is found is run on the example and must give the same values.
std::optional<RecurrentLeaf> recurrent_leaf(const Ref& self, const Ref& result, Builder& builder);

/// The tensors of a result that is not returned whole, read out of `leaf` as Python unpacks it.
Ref unpacked(const RecurrentLeaf& found, const Ref& result, const Ref& leaf, Builder& builder);

}  // namespace mase::libtorch
