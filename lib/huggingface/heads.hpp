// SPDX-License-Identifier: Apache-2.0
// Heads that several encoders have.
#pragma once

#include "huggingface/builder.hpp"

namespace mase::huggingface {

/// The label of each token of x, [batch, tokens, width].
Ref token_labels(Builder& builder, const Ref& x, std::int64_t width, double dropout);

/// The label of a text by the last of its tokens that is not padding, from x, [batch, tokens,
/// width]. `usual_padding` is the number of the padding token where config.json has none; Error
/// without any.
Ref last_token_label(Builder& builder, const Ref& ids, const Ref& x, std::int64_t width,
                     std::optional<std::int64_t> usual_padding = {});

/// How likely an answer begins, and ends, at each token.
std::vector<Ref> answer_places(Builder& builder, const Ref& x, std::int64_t width);

}  // namespace mase::huggingface
