// SPDX-License-Identifier: Apache-2.0
// The attention that all transformers use (Vaswani et al., NeurIPS 2017, section 3.2).
#pragma once

#include <optional>

#include "models/builder.hpp"

namespace mase::models {

ir::Value list(const Shape& values);  ///< an argument such as dims=[0, 2, 1, 3]

/// Splits heads: [tokens, heads * size] to [heads, tokens, size].
void part_heads(Builder& builder, std::int64_t heads);

/// softmax(Q K^T / sqrt(size)) V of all heads, as [tokens, heads * size]. Queries, keys and values
/// are [heads, tokens, size]; the mask is boolean, [tokens, tokens], and true where it hides a key.
void attend(Builder& builder, const Joint& query, const Joint& key, const Joint& value,
            const std::optional<Joint>& mask = std::nullopt);

}  // namespace mase::models
