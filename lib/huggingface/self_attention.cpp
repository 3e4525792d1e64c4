// SPDX-License-Identifier: Apache-2.0
// Splits the projections into heads, and joins what these attend to.
#include "huggingface/self_attention.hpp"

#include <cmath>

namespace mase::huggingface {

Ref self_attention(Builder& b, const std::string& path, const SelfAttention& sizes, const Ref& x) {
  const Ref rows = b.size(x, 0), tokens = b.size(x, 1);
  const auto heads = [&](const char* part) {
    const Ref together = b.linear(path + part, x, sizes.width, sizes.width, sizes.bias);
    return b.transpose(b.view(together, {rows, tokens, -1, sizes.head}), 1, 2);
  };
  Attention attention;
  attention.query = heads(sizes.projections[0]);
  attention.key = heads(sizes.projections[1]);
  attention.value = heads(sizes.projections[2]);
  attention.mask = sizes.mask;
  attention.scaling = std::pow(sizes.head, -0.5);
  attention.dropout = sizes.dropout;
  attention.softmax = sizes.softmax;
  const Ref mean = b.contiguous(b.attend(attention));
  return b.contiguous(b.reshape(mean, {rows, tokens, -1}));
}

}  // namespace mase::huggingface
