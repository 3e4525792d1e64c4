// SPDX-License-Identifier: Apache-2.0
// Heads that several encoders have.
#pragma once

#include <functional>

#include "huggingface/builder.hpp"

namespace mase::huggingface {

/// The label of each token of x, [batch, tokens, width].
Ref token_labels(Builder& builder, const Ref& x, std::int64_t width, double dropout);

/// The label of a text by the last of its tokens that is not padding, from x, [batch, tokens,
/// width]. `usual_padding` is the number of the padding token where config.json has none; Error
/// without any.
Ref last_token_label(Builder& builder, const Ref& ids, const Ref& x, std::int64_t width,
                     std::optional<std::int64_t> usual_padding = {});

/// The results of a model without a head: `x`, and what its pooler makes of it. The files of a
/// model that was made with add_pooling_layer=False have no tensor of a pooler, and then `x` is
/// all.
std::vector<Ref> with_pooler(Builder& builder, const Ref& x, const std::function<Ref()>& pooler);

/// How likely an answer begins, and ends, at each token.
std::vector<Ref> answer_places(Builder& builder, const Ref& x, std::int64_t width);

}  // namespace mase::huggingface
