// SPDX-License-Identifier: Apache-2.0
// Python subscripts put together again from the slices, selections and new axes they became.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torch/import/builder.hpp"

namespace mase::libtorch {

/// `base[items...]`, read so far.
struct Subscript {
  Ref base;
  ir::Value::List items;
  std::int64_t next_dim = 0;  ///< the dimension of the result that the next item would index
  std::string place;          ///< where the subscript stands, with its text
  /// The operators so far; empty with a tensor among the items, whose result is a copy.
  std::vector<ViewStep> steps = {};
};

/// The subscript with one more operator ("slice", "select", "unsqueeze" or "index" with its
/// inputs), or nothing when the operator does not go on where the subscript ends.
std::optional<Subscript> extended(Subscript subscript, std::string_view kind,
                                  const std::vector<Ref>& inputs, Builder& builder);

/// One item stands alone, several are a tuple.
ir::Value index_value(const Subscript& subscript);

}  // namespace mase::libtorch
