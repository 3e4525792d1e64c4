// SPDX-License-Identifier: Apache-2.0
// Self-attention whose queries, keys and values are linear layers of the same width.
#pragma once

#include <array>
#include <cstdint>

#include "huggingface/builder.hpp"

namespace mase::huggingface {

struct SelfAttention {
  std::array<const char*, 3> projections;  ///< of query, key and value: ".query", ...
  std::int64_t width, head;                ///< of a row, and of one head
  double dropout;
  bool bias = true;
  Ref mask = {};  ///< added to the scores if it is not None
  Softmax softmax = Softmax::plain;
};

/// The heads' means beside each other, before the output's projection: [batch, tokens, width], as
/// is `x`.
Ref self_attention(Builder& builder, const std::string& path, const SelfAttention& sizes,
                   const Ref& x);

}  // namespace mase::huggingface
