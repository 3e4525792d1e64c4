// SPDX-License-Identifier: Apache-2.0
// Rotary embedding of positions (Su et al., 2021) with the settings that config.json has for it.
#pragma once

#include "huggingface/builder.hpp"

namespace mase::huggingface {

/// Cosines and sines [1, tokens, size] of the angles of each position.
struct Rotary {
  Ref cosines, sines;
};

/// `path` is that of the module; `positions` are [1, tokens]; `size` is that of a head.
Rotary rotary_tables(Builder& builder, const std::string& path, const std::string& own_class,
                     const Ref& positions, std::int64_t size);

/// Queries and keys [batch, heads, tokens, size], each pair of elements turned by its angle.
void rotate(Builder& builder, const Rotary& tables, Ref& query, Ref& key);

}  // namespace mase::huggingface
