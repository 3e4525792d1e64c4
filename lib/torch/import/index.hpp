// SPDX-License-Identifier: Apache-2.0
// Rebuilds Python subscripts from the slices, selections and new axes that they were compiled to.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torch/import/builder.hpp"

namespace mase::libtorch {

/// The subscript `base[items...]`, as far as it has been read.
struct Subscript {
  Ref base;
  ir::Value::List items;
  std::int64_t next_dim = 0;  ///< the dimension of the result that the next item would index
  std::string place;          ///< the place of the subscript, and its text
  /// The operators so far. Empty if an item is a tensor, because the result is then a copy.
  std::vector<ViewStep> steps = {};
};

/// Extends the subscript by an operator ("slice", "select", "unsqueeze" or "index" with its
/// inputs). Returns nothing if the operator does not continue where the subscript ends.
std::optional<Subscript> extended(Subscript subscript, std::string_view kind,
                                  const std::vector<Ref>& inputs, Builder& builder);

/// The index of the subscript: a single item, or a tuple of several.
ir::Value index_value(const Subscript& subscript);

}  // namespace mase::libtorch
