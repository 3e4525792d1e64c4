// SPDX-License-Identifier: Apache-2.0
// Masks that are added to the scores of attention, made of attention_mask as transformers makes
// them (transformers/masking_utils.py, eager_mask): 0 where a token is seen, the least float32
// where it is not. Where attention_mask is None, no token is padding.
#pragma once

#include <cstdint>
#include <optional>

#include "huggingface/builder.hpp"

namespace mase::huggingface {

/// Every token sees all tokens of its row that are not padding; None if there is none of it. `x` is
/// [batch, tokens, width].
Ref full_mask(Builder& builder, const Ref& x, const Ref& attention_mask);

/// A token sees those up to itself, of which only the last `window` if there is one.
Ref causal_mask(Builder& builder, const Ref& x, const Ref& attention_mask,
                std::optional<std::int64_t> window = std::nullopt);

}  // namespace mase::huggingface
