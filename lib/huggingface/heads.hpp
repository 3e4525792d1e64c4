// SPDX-License-Identifier: Apache-2.0
// Heads that several encoders have.
#pragma once

#include "huggingface/builder.hpp"

namespace mase::huggingface {

/// The label of each token of x, [batch, tokens, width].
Ref token_labels(Builder& builder, const Ref& x, std::int64_t width, double dropout);

/// How likely an answer begins, and ends, at each token.
std::vector<Ref> answer_places(Builder& builder, const Ref& x, std::int64_t width);

}  // namespace mase::huggingface
